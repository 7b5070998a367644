import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildImage } from "../../../deploy/test/support/images.ts";
import type { Recorder } from "../../../deploy/test/support/recorder/client.ts";
import { below, exampleApi, examplePage, wizard, writeFixture } from "../../telemetry/cli/fixtures/apps.ts";
import { test as base } from "../fixtures.ts";
import { createTestNetwork } from "../test-network.ts";
import { dsnOf, startSentryHost } from "./sentry-host.ts";
import { type App, image, startApp } from "./start.ts";
import { openStream, type Stream } from "./stream.ts";

/** The apps, none of which knows Culvert: built with the Dockerfile that users copy, and started once for all tests of the matrix. */
interface Apps {
  appRouter: App;
  pagesRouter: App;
  wizard: App;
  /** The ingest of the DSNs in the code of the first and the last. */
  ingest: Recorder;
}

/**
 * Folder → the app's folder in it. None has a health route.
 * app-router: Next 16 and SDK 11 in a pnpm monorepo, with what create-next-app and Sentry's wizard choose, and a `basePath`.
 * pages-router: Next 15, locked by yarn, with `i18n`, `trailingSlash` and a middleware that rewrites every path. No Sentry.
 * wizard: Next 16 with next-intl, whose middleware redirects every path without a language; SDK 10, `tunnelRoute`, a DSN in the code.
 */
const repositories = { "app-router": "shop", "pages-router": ".", wizard: "." };

/** What Sentry's wizard adds to them. */
const added: Partial<Record<string, Record<string, string>>> = {
  "app-router": below("shop", {
    ...wizard("js", dsnOf("app-router")),
    "app/sentry-example-page/page.jsx": examplePage("/shop/api/sentry-example-api"),
  }),
  wizard: {
    ...wizard("js", dsnOf("wizard")),
    "app/[locale]/sentry-example-page/page.jsx": examplePage("/api/sentry-example-api"),
    "app/api/sentry-example-api/route.js": exampleApi,
  },
};

/** Builds an app. Without a cache, that is an npm ci and a Next build. */
async function build(name: string, APP: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "culvert-matrix-"));
  cpSync(join(import.meta.dirname, name), folder, { recursive: true });
  writeFixture({ files: added[name] ?? {}, path: "." }, folder);
  await buildImage(folder, { tag: image(name), dockerfile: "deploy/app/Dockerfile", args: { APP } });
  rmSync(folder, { recursive: true });
}

/** The settings with which an app's events, and those of its browser, reach the ingest of its DSN. */
const events = (name: "app-router" | "wizard") => ({
  TUNNEL_ALLOWED_DSNS: dsnOf(name),
  INGEST_CA_FILE: "/ca",
  NODE_EXTRA_CA_CERTS: "/ca",
});

/** Playwright's `test` with the apps, and with a stream that is idle for longer than most tests take. */
export const test = base.extend<object, { apps: Apps; stream: Stream }>({
  apps: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's dependencies from the pattern.
    async ({}, use) => {
      for (const [name, APP] of Object.entries(repositories)) await build(name, APP);
      const network = await createTestNetwork();
      try {
        const { recorder: ingest, ca } = await startSentryHost(network);
        const [appRouter, pagesRouter, wizard] = await Promise.all([
          // Node accepts 16 kB of request headers, which the cookies in this test use up.
          startApp(network, "app-router", {
            settings: { BASE_PATH: "/shop", ...events("app-router") },
            own: { NODE_OPTIONS: "--max-http-header-size=32768" },
            mounts: { [ca]: "/ca" },
          }),
          startApp(network, "pages-router"),
          startApp(network, "wizard", { settings: events("wizard"), mounts: { [ca]: "/ca" } }),
        ]);
        await use({ appRouter, pagesRouter, wizard, ingest });
      } finally {
        await network.close();
      }
    },
    { scope: "worker", timeout: 1_800_000 },
  ],
  stream: [
    async ({ apps, browser }, use) => {
      const stream = await openStream(browser, `${apps.appRouter.origin}/shop`);
      await use(stream);
      await stream.close();
    },
    { scope: "worker", auto: true, timeout: 1_800_000 },
  ],
});

export { expect } from "@playwright/test";
