import { buildImage } from "../../../deploy/test/support/images.ts";
import type { Recorder } from "../../../deploy/test/support/recorder/client.ts";
import { test as base } from "../fixtures.ts";
import { createTestNetwork } from "../test-network.ts";
import { DSN, startSentryHost } from "./sentry-host.ts";
import { type App, image, startApp } from "./start.ts";
import { openStream, type Stream } from "./stream.ts";

/** The apps, none of which knows Culvert: built and started once for all tests of the matrix. */
interface Apps {
  appRouter: App;
  pagesRouter: App;
  /** An app as Sentry's wizard sets it up, and the ingest of its DSN. */
  wizard: App & { ingest: Recorder };
}

/** Playwright's `test` with the apps, and with a stream that is idle for longer than most tests take. */
export const test = base.extend<object, { apps: Apps; stream: Stream }>({
  apps: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's dependencies from the pattern.
    async ({}, use) => {
      // Without a cache, each is an npm ci and a Next build.
      for (const name of ["app-router", "pages-router", "wizard"])
        await buildImage(`web/e2e/matrix/${name}`, { tag: image(name), dockerfile: "web/Dockerfile" });
      const network = await createTestNetwork();
      try {
        const { recorder: ingest, ca } = await startSentryHost(network);
        const [appRouter, pagesRouter, wizard] = await Promise.all([
          // Node accepts 16 kB of request headers, which the cookies in this test use up.
          startApp(network, "app-router", {
            settings: { BASE_PATH: "/shop" },
            own: { NODE_OPTIONS: "--max-http-header-size=32768" },
          }),
          startApp(network, "pages-router"),
          startApp(network, "wizard", {
            settings: { TUNNEL_ALLOWED_DSNS: DSN, INGEST_CA_FILE: "/ca", NODE_EXTRA_CA_CERTS: "/ca" },
            mounts: { [ca]: "/ca" },
          }),
        ]);
        await use({ appRouter, pagesRouter, wizard: { ...wizard, ingest } });
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
