import { defineConfig } from "vitest/config";

// Run by test/units.sh. The databases are real files, and a busy disk is slow.
export default defineConfig({ test: { include: ["src/**/*.test.ts"], testTimeout: 300_000 } });
