import { defineConfig } from "vitest/config";

// As in a bundle. test/package.test.ts has Node's own.
export default defineConfig({ resolve: { alias: { "#sdk": "@sentry/nextjs" } } });
