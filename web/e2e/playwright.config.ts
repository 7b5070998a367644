import { defineConfig } from "@playwright/test";
import { isolated } from "./network/namespace.ts";
import { app } from "./stack.ts";

// Set by deploy/bare-machine/browser.sh on Debian; without it Playwright uses the browser that it downloaded itself.
const executablePath = process.env.CHROMIUM_PATH || undefined;

/** Playwright matches whole paths, and a clone may be in a folder of the same name. */
const inFolder = (name: string) => `**/e2e/${name}/*.spec.ts`;

export default defineConfig({
  testDir: ".",
  outputDir: "test-results",
  fullyParallel: true,
  workers: 2,
  // Enough for a machine that is ten times slower: no test measures speed.
  timeout: 3_600_000,
  expect: { timeout: 600_000 },
  forbidOnly: Boolean(process.env.CI),
  globalSetup: "./network/namespace.ts",
  // A browser in the machine's network aborts requests whenever a container starts.
  retries: isolated ? 0 : 1,
  reporter: [["list"]],
  // Tests that change the ingest or a service for all others run alone, after them.
  projects: [
    // The commands in README.md, docs/tunnel-alone.md and docs/your-app.md, and other apps: in stacks of their own, one for each file.
    { name: "readme", testMatch: inFolder("readme") },
    { name: "your-app", testMatch: inFolder("your-app"), fullyParallel: false },
    {
      name: "matrix",
      testMatch: inFolder("matrix"),
      fullyParallel: false,
      // A build of Next takes minutes: the second app is for the nightly run.
      testIgnore: process.env.ALL_APPS ? [] : ["**/pages-router.spec.ts"],
    },
    { name: "together", testIgnore: ["alone", "matrix", "readme", "release", "your-app"].map(inFolder) },
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
        // For service workers, which `ignoreHTTPSErrors` leaves out.
        "--ignore-certificate-errors",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1",
      ],
    },
  },
});
