import { spawn, spawnSync } from "node:child_process";
import { drive, serveBeside } from "./beside.ts";
import { arrived, messageOf, of } from "./envelopes.ts";
import { expect, open, test, traceOf } from "./fixtures.ts";
import { app } from "./stack.ts";

const WORKER = `
  addEventListener("install", () => skipWaiting());
  addEventListener("activate", (event) => event.waitUntil(clients.claim()));
  addEventListener("fetch", (event) => {
    if (event.request.mode === "navigate") event.respondWith(fetch(event.request.url));
  });`;

test("a page that a service worker fetched runs its scripts, and its errors arrive", async ({ page, allow }) => {
  allow.consoleError(/Thrown on purpose/);
  const beside = await serveBeside({
    "/worker.js": (response) => response.setHeader("content-type", "text/javascript").end(WORKER),
  });
  const origin = `http://localhost:${beside.port}`;
  allow.origin(origin);
  await page.goto(`${origin}/healthz`);
  await page.evaluate(async () => {
    const controlled = new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve));
    await navigator.serviceWorker.register("/worker.js");
    await controlled;
  });
  await open(page, `${origin}/test-events`);
  expect(await page.evaluate(() => Boolean(navigator.serviceWorker.controller))).toBe(true);
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await arrived("event", of(await traceOf(page)));
  beside.close();
});

const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

test("WebKit: errors of a page after a redirect from another origin arrive", async () => {
  test.skip(!has("WebKitWebDriver") || !has("xvfb-run"), "needs Debian's webkit2gtk-driver and xvfb");
  const beside = await serveBeside({
    "/redirect": (response) => response.writeHead(307, { location: `${app.origin}/test-events` }).end(),
  });
  // Its port is free, because it was just this server's.
  const { port, close } = await serveBeside({});
  close();
  const driver = spawn("xvfb-run", ["-a", "WebKitWebDriver", `--port=${port}`], { detached: true, stdio: "ignore" });
  try {
    const session = await start(port);
    await drive(port, `${session}/url`, { url: `http://127.0.0.1:${beside.port}/redirect` });
    const message = `Thrown in WebKit ${crypto.randomUUID()}`;
    const script = `
      setTimeout(() => { throw new Error(arguments[0]) });
      return [location.href, performance.getEntriesByType("navigation")[0].serverTiming.length]`;
    // Hidden: otherwise this test shows nothing.
    expect(await drive(port, `${session}/execute/sync`, { script, args: [message] })).toEqual([
      `${app.origin}/test-events`,
      0,
    ]);
    const { item } = await arrived("event", (one) => messageOf(one) === message);
    expect(item.payload).toMatchObject({ environment: "production", release: process.env.SENTRY_RELEASE });
  } finally {
    if (driver.pid) process.kill(-driver.pid);
    beside.close();
  }
});

/** Opens a browser and returns the path of its session. */
async function start(port: number): Promise<string> {
  let session = "";
  await expect(async () => {
    const capabilities = { alwaysMatch: { acceptInsecureCerts: true } };
    const { sessionId } = (await drive(port, "/session", { capabilities })) as { sessionId: string };
    session = `/session/${sessionId}`;
  }).toPass();
  return session;
}
