import { buildImage } from "../../../deploy/test/support/images.ts";
import type { Recorder } from "../../../deploy/test/support/recorder/client.ts";
import { test as base } from "../fixtures.ts";
import { openLab } from "../test-network.ts";
import { DSN, openSaas } from "./saas.ts";
import { type App, image, startApp } from "./start.ts";
import { openStream, type Stream } from "./stream.ts";

/** The apps, none of which knows of Culvert: built, and running once for all tests of the matrix. */
interface Apps {
  appRouter: App;
  pagesRouter: App;
  /** As Sentry's wizard leaves it, and the Sentry that it was made for. */
  wizard: App & { ingest: Recorder };
}

/** Playwright's `test` with the apps, and with the stream that is silent for longer than most tests take. */
export const test = base.extend<object, { apps: Apps; stream: Stream }>({
  apps: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
    async ({}, use) => {
      // Cold, each is an npm ci and a Next build.
      for (const name of ["app-router", "pages-router", "wizard"])
        await buildImage(`web/e2e/matrix/${name}`, { tag: image(name), dockerfile: "web/Dockerfile" });
      const lab = await openLab();
      try {
        const { recorder: ingest, ca } = await openSaas(lab);
        const [appRouter, pagesRouter, wizard] = await Promise.all([
          // Node takes 16 kB of request headers, of which the cookies in this test would leave nothing.
          startApp(lab, "app-router", {
            settings: { BASE_PATH: "/shop" },
            own: { NODE_OPTIONS: "--max-http-header-size=32768" },
          }),
          startApp(lab, "pages-router"),
          startApp(lab, "wizard", {
            settings: { TUNNEL_ALLOWED_DSNS: DSN, INGEST_CA_FILE: "/ca", NODE_EXTRA_CA_CERTS: "/ca" },
            mounts: { [ca]: "/ca" },
          }),
        ]);
        await use({ appRouter, pagesRouter, wizard: { ...wizard, ingest } });
      } finally {
        await lab.close();
      }
    },
    { scope: "worker", timeout: 900_000 },
  ],
  stream: [
    async ({ apps, browser }, use) => {
      const stream = await openStream(browser, `${apps.appRouter.origin}/shop`);
      await use(stream);
      await stream.close();
    },
    { scope: "worker", auto: true, timeout: 900_000 },
  ],
});

export { expect } from "@playwright/test";
