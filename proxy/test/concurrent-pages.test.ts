import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { closeHeld, hold } from "./held.ts";
import type { TestProxy } from "./proxy.ts";
import { page, useProxy } from "./use-proxy.ts";
import { type Request, send, sendH2 } from "./wire.ts";

const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const flight = { accept: "*/*", rsc: "1" };
const hanging = { ...page, instead: "hang" } as const;

afterEach(closeHeld);

/** Begins requests with these headers that web does not answer, and waits until web has them. */
async function hang(proxy: TestProxy, count: number, headers: Record<string, string> = html): Promise<void> {
  const seen = async () => (await proxy.web.count()) + ((await proxy.web2?.count()) ?? 0);
  for (const web of [proxy.web, proxy.web2]) await web?.answer(hanging);
  const mark = await seen();
  await hold(proxy.port, count, headers);
  await expect.poll(seen).toBe(mark + count);
  for (const web of [proxy.web, proxy.web2]) await web?.answer(page);
}

const status = async (proxy: TestProxy, request: Partial<Request>) =>
  (await send(proxy.port, { path: "/page", ...request })).status;
const opens = (proxy: TestProxy, headers: Record<string, string> = html) =>
  expect.poll(() => status(proxy, { headers })).toBe(200);

describe("MAX_CONCURRENT_PAGES_PER_REPLICA, with as many pages open", () => {
  const shared = useProxy({ MAX_CONCURRENT_PAGES_PER_REPLICA: "8" });
  beforeEach(async () => {
    await opens(shared.proxy);
    await opens(shared.proxy, { ...flight, "next-router-prefetch": "1" });
  });

  test.each([
    ["a page", html],
    ["a navigation", { accept: "*/*", "sec-fetch-mode": "navigate" }],
    ["a flight payload", flight],
  ])("%s is answered at once with 503, and web is not asked", async (_, headers) => {
    await hang(shared.proxy, 8);
    const { answer, received } = await shared.through({ headers });
    expect(answer).toMatchObject({ status: 503, body: expect.stringContaining("Too busy right now") });
    expect(answer.headers["retry-after"]).toBe("5");
    expect(answer.body).toContain('<meta http-equiv="refresh" content="5">');
    expect(received).toEqual([]);
    expect((await sendH2(shared.proxy.port, { method: "HEAD", path: "/page", headers })).status).toBe(503);
  });

  test("while make up stops a replica, the limit holds, and no connection to web is kept", async () => {
    await shared.proxy.on("proxy", "exec", "touch", "/tmp/nginx/only/web-set-a");
    const connections = async () => (await shared.through({ headers: html })).received.map(({ port }) => port);
    expect(await connections()).not.toEqual(await connections());
    await hang(shared.proxy, 8);
    expect(await status(shared.proxy, { headers: html })).toBe(503);
    await shared.proxy.on("proxy", "exec", "rm", "/tmp/nginx/only/web-set-a");
  });

  test.each<[string, Partial<Request>]>([
    ["a form", { method: "POST", headers: { ...html, "sec-fetch-mode": "navigate" }, body: "a=1" }],
    ["a server action", { method: "POST", headers: { accept: "text/x-component", "next-action": "7f" }, body: "[]" }],
    ["an event stream", { headers: { accept: "text/event-stream" } }],
    ["an API call", { path: "/api/x", headers: { accept: "*/*", "sec-fetch-mode": "cors" } }],
    ["a file", { path: "/logo.png", headers: { accept: "image/avif,image/webp,*/*", "sec-fetch-mode": "no-cors" } }],
    ["a hashed file", { path: "/_next/static/chunks/open-0123456789abcdef.js" }],
  ])("%s passes", async (_, request) => {
    await hang(shared.proxy, 8);
    const type = { "content-type": "text/javascript" };
    await shared.proxy.web.answer({ ...page, headers: request.path?.endsWith(".js") ? type : page.headers });
    expect(await status(shared.proxy, request)).toBe(200);
    expect(await status(shared.proxy, { headers: html })).toBe(503);
    for (const path of ["/healthz", "/readyz", "/metrics"]) await shared.proxy.internal(path);
  });

  test.each([
    ["Next's", { ...flight, "next-router-prefetch": "1" }],
    ["Next's, of a segment", { ...flight, "next-router-segment-prefetch": "/_tree" }],
    ["the browser's", { ...html, "sec-purpose": "prefetch;prerender" }],
  ])("prefetches are shed first, at a quarter, and take no page's place: %s", async (_, headers) => {
    await hang(shared.proxy, 2, headers);
    expect(await status(shared.proxy, { headers })).toBe(503);
    await hang(shared.proxy, 8);
    expect(await status(shared.proxy, { headers: html })).toBe(503);
  });

  test("all places are free again when clients have given up, and when web has failed", async () => {
    await hang(shared.proxy, 8);
    closeHeld();
    await opens(shared.proxy);
    await shared.proxy.web.answer({ ...page, instead: "reset" });
    for (let n = 0; n < 20; n++) {
      const { body } = await send(shared.proxy.port, { path: "/page", headers: html });
      expect(body).toContain("Back in a moment");
    }
    await shared.proxy.web.answer(page);
    await hang(shared.proxy, 8);
    expect(await status(shared.proxy, { headers: html })).toBe(503);
  });

  test("log and metrics tell it from a replica that does not answer", async () => {
    const { metric } = shared.proxy;
    const shed = 'culvert_pages_total{kind="page",outcome="shed"}';
    const failures = 'culvert_upstream_failures_total{upstream="web"}';
    await hang(shared.proxy, 8);
    const before = [await metric(shed), await metric(failures)];
    const { headers } = await send(shared.proxy.port, { path: "/page", headers: html });
    // An answer is counted once it has been sent.
    await expect.poll(() => metric(shed)).toBe((before[0] ?? 0) + 1);
    expect(await metric(failures)).toBe(before[1]);
    expect(await metric('culvert_pages_total{kind="page",outcome="accepted"}')).toBeGreaterThan(0);
    const line = await shared.proxy.logged(headers["x-request-id"]);
    expect(line).toMatchObject({ status: 503, reason: "overload" });
  });
});

describe("MAX_CONCURRENT_PAGES_PER_REPLICA with two replicas", () => {
  const shared = useProxy({ MAX_CONCURRENT_PAGES_PER_REPLICA: "4" }, { twoReplicas: true });
  test("admits twice as many pages, as many on each", async () => {
    await opens(shared.proxy);
    const counts = async () => [await shared.proxy.web.count(), (await shared.proxy.web2?.count()) ?? 0];
    const before = await counts();
    await hang(shared.proxy, 8);
    expect(await counts()).toEqual(before.map((count) => count + 4));
    expect(await status(shared.proxy, { headers: html })).toBe(503);
  });
});

describe("MAX_CONCURRENT_PAGES_PER_REPLICA without a replica that is ready", () => {
  const shared = useProxy({
    MAX_CONCURRENT_PAGES_PER_REPLICA: "4",
    WEB_UPSTREAM: "not-ready.invalid:9000",
    WEB_FALLBACK_UPSTREAM: "web:9000",
  });
  test("one page at a time goes to WEB_FALLBACK_UPSTREAM, and any number of other requests", async () => {
    await opens(shared.proxy);
    await hang(shared.proxy, 1);
    expect(await status(shared.proxy, { headers: html })).toBe(503);
    expect(await status(shared.proxy, { method: "POST", headers: html, body: "a=1" })).toBe(200);
  });
});
