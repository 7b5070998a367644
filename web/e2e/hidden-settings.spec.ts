import { spawn, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { arrived, messageOf, of, received } from "./envelopes.ts";
import { expect, open, test, traceOf } from "./fixtures.ts";
import { app } from "./stack.ts";

/** Fetches pages, without the header, which some versions of Chromium show. Requests for the settings wait for a message, if the worker was registered with `?wait`. */
const WORKER = `
  const message = new Promise((resolve) => addEventListener("message", resolve));
  addEventListener("install", () => skipWaiting());
  addEventListener("activate", (event) => event.waitUntil(clients.claim()));
  const fetchPage = async ({ url }) => {
    const { body, headers } = await fetch(url);
    return new Response(body, { headers: [...headers].filter(([name]) => name !== "server-timing") });
  };
  addEventListener("fetch", (event) => {
    if (event.request.mode === "navigate") event.respondWith(fetchPage(event.request));
    if (event.request.url.endsWith("/.culvert/settings") && location.search === "?wait")
      event.respondWith(message.then(() => fetch(event.request)));
  });`;

/** Opens a page that a service worker fetches. */
async function openByWorker(page: Page, search = ""): Promise<void> {
  const worker = { contentType: "text/javascript", body: WORKER };
  await page.context().route("**/worker.js*", (route) => route.fulfill(worker));
  await page.goto("/healthz");
  await page.evaluate(async (search) => {
    const controlled = new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve));
    await navigator.serviceWorker.register(`/worker.js${search}`);
    await controlled;
  }, search);
  await open(page, "/test-events");
}

test("errors before the settings are the SDK's own: filters drop them, and what is thrown may be no error", async ({
  page,
  allow,
}) => {
  allow.consoleError(/of another origin|a text|a reason|null/);
  allow.origin("https://other.example");
  const script = { contentType: "text/javascript", body: "throw new Error('of another origin')" };
  await page.context().route("https://other.example/*", (route) => route.fulfill(script));
  await openByWorker(page, "?wait");
  await page.evaluate(async () => {
    const next = () => new Promise((resolve) => addEventListener("error", resolve, { once: true }));
    const failing = Object.assign(document.createElement("script"), { src: "https://other.example/a.js" });
    const failed = next();
    document.body.append(failing);
    await failed;
    for (const thrown of [null, "a text"]) {
      setTimeout(() => {
        throw thrown;
      });
      await next();
    }
    const rejected = new Promise((resolve) => addEventListener("unhandledrejection", resolve, { once: true }));
    Promise.reject("a reason");
    await rejected;
    navigator.serviceWorker.controller?.postMessage("go on");
  });
  const trace = of(await traceOf(page));
  const last = "Non-Error promise rejection captured with value: a reason";
  await arrived("event", (one) => trace(one) && messageOf(one).endsWith("a reason"));
  await arrived("event", (one) => trace(one) && messageOf(one) === "a text");
  const messages = (await received("event", trace)).map(messageOf).sort();
  expect(messages).toEqual([last, "Uncaught null", "a text"]);
});

test("a page that a service worker fetched runs its scripts, and its errors arrive", async ({ page, allow }) => {
  allow.consoleError(/Thrown on purpose/);
  await openByWorker(page);
  expect(await page.evaluate(() => Boolean(navigator.serviceWorker.controller))).toBe(true);
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await arrived("event", of(await traceOf(page)));
});

const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

/** Posts to a WebDriver server and returns its answer's value; throws its message. https://www.w3.org/TR/webdriver2/ */
async function drive(port: number, path: string, body: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body: JSON.stringify(body) });
  const { value } = (await response.json()) as { value?: { error?: string; message?: string } };
  if (value?.error) throw new Error(value.message);
  return value;
}

/** Starts a server that redirects to the app, and returns it with its port. */
async function redirecting() {
  const server = createServer((_, response) =>
    response.writeHead(307, { location: `${app.origin}/test-events` }).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

test("WebKit: errors of a page after a redirect from another origin arrive", async () => {
  test.skip(!has("WebKitWebDriver") || !has("xvfb-run"), "needs Debian's webkit2gtk-driver and xvfb");
  const other = await redirecting();
  // Its port is free, because it was just this server's.
  const { port, server } = await redirecting();
  server.close();
  const driver = spawn("xvfb-run", ["-a", "WebKitWebDriver", `--port=${port}`], { detached: true, stdio: "ignore" });
  try {
    let session = "";
    await expect(async () => {
      const capabilities = { alwaysMatch: { acceptInsecureCerts: true } };
      const { sessionId } = (await drive(port, "/session", { capabilities })) as { sessionId: string };
      session = `/session/${sessionId}`;
    }).toPass();
    await drive(port, `${session}/url`, { url: `http://127.0.0.1:${other.port}` });
    const message = `Thrown in WebKit ${crypto.randomUUID()}`;
    const script = `
      setTimeout(() => { throw new Error(arguments[0]) });
      return [location.href, performance.getEntriesByType("navigation")[0].serverTiming.length]`;
    // Hidden: otherwise this test shows nothing.
    const shown = await drive(port, `${session}/execute/sync`, { script, args: [message] });
    expect(shown).toEqual([`${app.origin}/test-events`, 0]);
    const { item } = await arrived("event", (one) => messageOf(one) === message);
    expect(item.payload).toMatchObject({ environment: "production", release: process.env.SENTRY_RELEASE });
  } finally {
    if (driver.pid) process.kill(-driver.pid);
    other.server.close();
  }
});
