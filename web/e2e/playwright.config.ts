import { defineConfig } from "@playwright/test";
import { isolated } from "./network/namespace.ts";
import { app } from "./stack.ts";

// Set by deploy/host/browser.sh on Debian; without it Playwright uses the browser that it downloaded itself.
const executablePath = process.env.CHROMIUM_PATH || undefined;

export default defineConfig({
  testDir: ".",
  outputDir: "test-results",
  fullyParallel: true,
  workers: 2,
  // For a machine that is six times slower than a quiet one: nothing here is about speed.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  forbidOnly: Boolean(process.env.CI),
  globalSetup: "./network/namespace.ts",
  // Where the browser shares the machine's network, it gives up requests whenever a container starts.
  retries: isolated ? 0 : 1,
  reporter: [["list"]],
  // What changes the far end or the machine's network for everybody runs by itself, when the others are done. The outage has a stack
  // of its own.
  projects: [
    { name: "outage", testMatch: "outage/**" },
    // Other people's apps, in containers of their own: one start of them for all files.
    { name: "matrix", testMatch: "matrix/*.spec.ts", fullyParallel: false, workers: 1 },
    { name: "together", testIgnore: ["alone/**", "matrix/**", "outage/**"] },
    { name: "alone", testMatch: "alone/**", dependencies: ["together"], fullyParallel: false, workers: 1 },
  ],
  use: {
    baseURL: app.origin,
    ignoreHTTPSErrors: true,
    launchOptions: {
      executablePath: isolated?.executablePath ?? executablePath,
      args: [
        ...(isolated?.args ?? []),
        // As root, which is what a CI machine often is, Chromium has no sandbox of its own.
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1",
      ],
    },
  },
});
