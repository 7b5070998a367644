import { defineConfig } from "@playwright/test";
import { app } from "./stack.ts";

// Set by deploy/host/browser.sh on Debian; without it Playwright uses the browser that it downloaded itself.
const executablePath = process.env.CHROMIUM_PATH || undefined;

export default defineConfig({
  testDir: ".",
  outputDir: "test-results",
  fullyParallel: true,
  workers: 2,
  forbidOnly: Boolean(process.env.CI),
  // Chromium gives up requests (ERR_NETWORK_CHANGED) when anything on the machine adds a network, a container's included.
  // What only passes the second time is named as flaky in the output.
  retries: process.env.CI ? 1 : 0,
  reporter: [["list"]],
  // What changes the far end or the machine's network for everybody runs by itself, when the others are done. The outage has a stack
  // of its own, and expects the network to change.
  projects: [
    { name: "outage", testMatch: "outage/**" },
    { name: "together", testIgnore: ["alone/**", "outage/**"] },
    { name: "alone", testMatch: "alone/**", dependencies: ["together"], fullyParallel: false, workers: 1 },
  ],
  use: {
    baseURL: app.origin,
    ignoreHTTPSErrors: true,
    launchOptions: {
      executablePath,
      args: [
        // As root, which is what a CI machine often is, Chromium has no sandbox of its own.
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1",
      ],
    },
  },
});
