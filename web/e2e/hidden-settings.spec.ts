import { spawn, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { arrived, messageOf, of, received } from "./envelopes.ts";
import { expect, open, test } from "./fixtures.ts";
import { app, recorder } from "./stack.ts";

/** Fetches pages, without the header, which some versions of Chromium show, and settings after a message. */
const WORKER = `
  const message = new Promise((resolve) => addEventListener("message", resolve));
  const fetchPage = async ({ url }) => {
    const { body, headers } = await fetch(url);
    return new Response(body, { headers: [...headers].filter(([name]) => name !== "server-timing") });
  };
  addEventListener("install", () => skipWaiting());
  addEventListener("activate", (event) => event.waitUntil(clients.claim()));
  addEventListener("fetch", (event) => {
    const { request } = event;
    if (request.mode === "navigate") event.respondWith(fetchPage(request));
    if (request.url.endsWith("/settings")) event.respondWith(message.then(() => fetch(request)));
  });`;

test("a page that a service worker fetched: its errors arrive, also those before the settings, unless a filter drops them", async ({
  page,
  allow,
}) => {
  allow.consoleError(/of another origin|a text|null|a reason|Thrown on purpose/);
  allow.origin("https://other.example");
  const answer = (url: string, body: string) =>
    page.context().route(url, (route) => route.fulfill({ contentType: "text/javascript", body }));
  await answer("**/worker.js", WORKER);
  await answer("https://other.example/*", "throw new Error('of another origin')");
  await page.goto("/healthz");
  await page.evaluate(async () => {
    const controlled = new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve));
    await navigator.serviceWorker.register("/worker.js");
    await controlled;
  });
  const mark = await recorder.count();
  await open(page, "/test-events");
  await page.evaluate(async () => {
    const after = (type: string, act: () => void) =>
      new Promise((resolve) => {
        addEventListener(type, resolve, { once: true });
        act();
      });
    const script = Object.assign(document.createElement("script"), { src: "https://other.example/a.js" });
    await after("error", () => document.body.append(script));
    for (const thrown of [null, "a text"])
      await after("error", () =>
        setTimeout(() => {
          throw thrown;
        }),
      );
    await after("unhandledrejection", () => Promise.reject("a reason"));
    navigator.serviceWorker.controller?.postMessage("go on");
  });
  const { item } = await arrived("event", (event) => messageOf(event).endsWith("a reason"), mark);
  const trace = of(item.payload.contexts.trace.trace_id);
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await arrived("event", (event) => trace(event) && messageOf(event).startsWith("Thrown on purpose"));
  const rejection = "Non-Error promise rejection captured with value: a reason";
  await expect
    .poll(async () => (await received("event", trace)).map(messageOf).sort())
    .toEqual([rejection, "Thrown on purpose in the browser", "Uncaught null", "a text"]);
});

const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

/** https://www.w3.org/TR/webdriver2/ */
async function drive(port: number, path: string, body: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body: JSON.stringify(body) });
  const { value } = (await response.json()) as { value?: { error?: string; message?: string } };
  if (value?.error) throw new Error(value.message);
  return value;
}

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
    const { item } = await arrived("event", (event) => messageOf(event) === message);
    expect(item.payload).toMatchObject({ environment: "production", release: process.env.SENTRY_RELEASE });
  } finally {
    if (driver.pid) process.kill(-driver.pid);
    other.server.close();
  }
});
