import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{lib,suite,test}/**/*.test.ts"],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // Many tests wait: for slow answers, or for envelopes that do not arrive.
    maxWorkers: 2,
    // The suite says each failure in k6's log.
    silent: "passed-only",
    // Starting a process for each file takes a third of the time. A test that stubs a global restores it.
    isolate: false,
    alias: [{ find: /^k6(\/\w+)?$/, replacement: fileURLToPath(new URL("test/k6-shim.ts", import.meta.url)) }],
  },
});
