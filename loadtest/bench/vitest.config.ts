import { defineConfig } from "vitest/config";

// One process for several files: most of the processor time was starting one for each.
export default defineConfig({ test: { include: ["src/**/*.test.ts"], isolate: false } });
