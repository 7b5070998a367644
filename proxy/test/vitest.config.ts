import { defineConfig } from "vitest/config";

// Containers start and stop inside tests; nothing here asserts on time.
export default defineConfig({ test: { testTimeout: 60_000, hookTimeout: 120_000, maxWorkers: 4 } });
