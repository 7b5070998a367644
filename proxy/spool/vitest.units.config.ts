import { defineConfig } from "vitest/config";

// Run by test/units.sh. The databases are real files, and a busy disk is slow. In one process: vitest gives up one that starts slowly.
export default defineConfig({
  test: { include: ["src/**/*.test.ts"], testTimeout: 300_000, maxWorkers: 1, isolate: false },
});
