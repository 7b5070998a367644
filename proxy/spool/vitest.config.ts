import { defineConfig } from "vitest/config";

// Tests mostly wait for containers, so that there are more at once than cores. The units in src need Node 24 and run inside one: test/units.test.ts.
export default defineConfig({
  test: { include: ["test/*.test.ts"], testTimeout: 90_000, hookTimeout: 120_000, maxWorkers: 4 },
});
