import { defineConfig } from "vitest/config";

export default defineConfig({
  // As in a bundle. test/package.test.ts has Node's own.
  resolve: { alias: { "#sdk": "@sentry/nextjs" } },
  // A busy machine stops a process for seconds.
  test: { testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 240_000 } } },
});
