import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{lib,suite,test}/**/*.test.ts"],
    testTimeout: 60_000,
    alias: [{ find: /^k6(\/\w+)?$/, replacement: fileURLToPath(new URL("test/k6-shim.ts", import.meta.url)) }],
  },
});
