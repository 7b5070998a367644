import { defineConfig } from "vitest/config";

// Containers start and stop inside tests; nothing here asserts on time.
export default defineConfig({
  test: {
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    maxWorkers: 3,
    // Files of one worker share its testbeds (testbed.ts) and what they import.
    isolate: false,
    globalSetup: "./global-setup.ts",
    expect: { poll: { timeout: 600_000, interval: 200 } },
  },
});
