import { defineConfig } from "vitest/config";

// Tests mostly wait for containers, so more of them run in parallel than there are cores. The unit tests in src need Node 24:
// test/units.sh.
export default defineConfig({
  test: {
    include: ["test/*.test.ts"],
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    maxWorkers: 3,
    // Files share no state but the containers that each has of its own.
    isolate: false,
  },
});
