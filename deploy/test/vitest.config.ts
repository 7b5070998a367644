import { defineConfig } from "vitest/config";

// Long timeouts, because tests start and stop containers; no test compares times.
export default defineConfig({
  test: {
    testTimeout: 900_000,
    hookTimeout: 900_000,
    maxWorkers: 2,
    // Files share no state but variables of the environment, and those that set some take them back.
    isolate: false,
    expect: { poll: { timeout: 240_000, interval: 200 } },
  },
});
