import { defineConfig } from "vitest/config";

export default defineConfig({
  // As in a bundle. test/package.test.ts has Node's own.
  resolve: { alias: { "#sdk": "@sentry/nextjs" } },
  // A busy machine stops a process for seconds.
  test: { expect: { poll: { timeout: 60_000 } } },
});
