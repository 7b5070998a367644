import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["{lib,test}/**/*.test.ts"], testTimeout: 60_000 } });
