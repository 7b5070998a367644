import { defineConfig } from "vitest/config";

// A program in TypeScript for any supported version of Node: deploy/monitoring/picture.sh.
export default defineConfig({
  test: { include: ["monitoring/run.picture.ts"], testTimeout: 1_800_000, hookTimeout: 900_000 },
});
