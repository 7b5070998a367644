import { build } from "esbuild";
import type * as Sdk from "sentry-browser-11";
import { expect, test } from "./fixtures.ts";
import { app, recorder } from "./stack.ts";

/** Sentry's SDK for browsers as one script, which sets `Sentry`. */
async function script(version: 10 | 11): Promise<string> {
  const contents = `export { init, captureException, flush, makeFetchTransport } from "sentry-browser-${version}"`;
  const stdin = { contents, resolveDir: import.meta.dirname };
  const result = await build({ stdin, bundle: true, write: false, format: "iife", globalName: "Sentry" });
  return result.outputFiles[0]?.text ?? "";
}

// The page has no SDK yet: the test adds it.
test.use({ bypassCSP: true });

// Chromium allows the keepalive requests of a page 64 KiB in total, and the SDK reads no response: a request must count until its response
// only. With a body, it would count for 50 ms longer, and with no-store on it forever.
for (const version of [10, 11] as const)
  test(`SDK ${version}: 60 errors of one page, 360 kB in bursts, arrive byte for byte`, async ({ page }) => {
    await page.goto("/healthz");
    await page.addScriptTag({ content: await script(version) });
    const mark = await recorder.count();
    const sent = await page.evaluate(async (tunnel) => {
      const { Sentry } = window as unknown as { Sentry: typeof Sdk };
      const bodies: string[] = [];
      Sentry.init({
        dsn: "http://culvert@recorder:9000/1",
        tunnel,
        maxBreadcrumbs: 0,
        transport: (options) =>
          Sentry.makeFetchTransport(options, (url, init) => {
            bodies.push(String(init?.body));
            return fetch(url, init);
          }),
      });
      for (let burst = 0; burst < 12; burst++) {
        for (let n = 0; n < 5; n++)
          Sentry.captureException(new Error(`${burst}.${n}`), { extra: { text: "x".repeat(6_000) } });
        await Sentry.flush();
        for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
      }
      return bodies;
    }, app.tunnel);
    expect(sent.join("").length).toBeGreaterThan(360_000);
    expect(sent.filter((body) => body.includes('"type":"event"'))).toHaveLength(60);
    const missing = async () => {
      const arrived = (await recorder.all(mark)).map(({ body }) => Buffer.from(body, "base64").toString());
      return sent.filter((body) => !arrived.includes(body));
    };
    await expect.poll(missing).toEqual([]);
  });
