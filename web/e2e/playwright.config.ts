import { defineConfig } from "@playwright/test";
import { isolated } from "./network/namespace.ts";
import { app } from "./stack.ts";

// Set by deploy/bare-machine/browser.sh on Debian; without it Playwright uses the browser that it downloaded itself.
const executablePath = process.env.CHROMIUM_PATH || undefined;

/** Playwright matches whole paths, and a clone may be in a folder of the same name. */
const inFolder = (name: string) => `**/e2e/${name}/**`;

export default defineConfig({
  testDir: ".",
  outputDir: "test-results",
  fullyParallel: true,
  workers: 2,
  // Long enough for a machine that is six times slower than an idle one: no test measures speed.
  timeout: 900_000,
  expect: { timeout: 180_000 },
  forbidOnly: Boolean(process.env.CI),
  globalSetup: "./network/namespace.ts",
  // A browser in the machine's network aborts requests whenever a container starts.
  retries: isolated ? 0 : 1,
  reporter: [["list"]],
  // Tests that change the ingest or a service for all others run alone, after them. The outage and README's commands have their own stacks.
  projects: [
    { name: "outage", testMatch: inFolder("outage") },
    { name: "readme", testMatch: inFolder("readme") },
    // The commands in docs/your-app.md, in apps of their own.
    { name: "your-app", testMatch: "**/e2e/your-app/*.spec.ts", fullyParallel: false, workers: 1 },
    // Other apps in containers of their own, started once for all files.
    { name: "matrix", testMatch: "**/e2e/matrix/*.spec.ts", fullyParallel: false, workers: 1 },
    { name: "together", testIgnore: ["alone", "matrix", "outage", "readme", "release", "your-app"].map(inFolder) },
    { name: "alone", testMatch: inFolder("alone"), dependencies: ["together"], fullyParallel: false, workers: 1 },
    // Leaves the stack with another release.
    { name: "release", testMatch: inFolder("release") },
  ],
  use: {
    baseURL: app.origin,
    ignoreHTTPSErrors: true,
    launchOptions: {
      executablePath: isolated?.executablePath ?? executablePath,
      args: [
        ...(isolated?.args ?? []),
        // As root, which is common on CI machines, Chromium cannot use its sandbox.
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1",
      ],
    },
  },
});
