import type { ClientRequest } from "node:http";
import { Agent, request } from "node:https";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { killWorkers, type TestProxy } from "./proxy.ts";
import { page, useProxy } from "./use-proxy.ts";
import { type Request, send, sendH2 } from "./wire.ts";

const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const flight = { accept: "*/*", rsc: "1" };
const hanging = { ...page, instead: "hang" } as const;

/** Requests that web does not answer; ended after each test. */
const open: ClientRequest[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.destroy();
});

/** Begins requests for these headers that web does not answer, and waits until web has them. */
async function hang(proxy: TestProxy, count: number, headers: Record<string, string> = html): Promise<void> {
  const seen = async () => (await proxy.web.count()) + ((await proxy.web2?.count()) ?? 0);
  for (const web of [proxy.web, proxy.web2]) await web?.answer(hanging);
  const mark = await seen();
  for (let n = 0; n < count; n++) {
    const options = { host: "127.0.0.1", port: proxy.port, path: "/slow", agent: false, rejectUnauthorized: false };
    const outgoing = request({ ...options, headers: { host: "localhost", ...headers } });
    open.push(outgoing.on("error", () => undefined));
    outgoing.end();
  }
  await expect.poll(seen, { timeout: 60_000 }).toBe(mark + count);
  for (const web of [proxy.web, proxy.web2]) await web?.answer(page);
}

const status = async (proxy: TestProxy, request: Partial<Request>) =>
  (await send(proxy.port, { path: "/page", ...request })).status;
const opens = (proxy: TestProxy, headers: Record<string, string> = html) =>
  expect.poll(() => status(proxy, { headers }), { timeout: 60_000 }).toBe(200);

describe("OPEN_PAGES_PER_REPLICA, with as many pages open", () => {
  const shared = useProxy({ OPEN_PAGES_PER_REPLICA: "8", HEALTH_PATH: "/healthz" });
  beforeEach(async () => {
    await shared.proxy.web.answer(page);
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
    const seconds = answer.headers["retry-after"];
    expect(seconds).toMatch(/^([4-9]|10)$/);
    expect(answer.body).toContain(`<meta http-equiv="refresh" content="${seconds}">`);
    expect(answer.headers["cache-control"]).toBe("no-cache");
    expect(received).toEqual([]);
  });

  test("the connection stays open: a handshake costs more than the page", async () => {
    await hang(shared.proxy, 8);
    const agent = new Agent({ keepAlive: true });
    const shed = await send(shared.proxy.port, { path: "/page", headers: html }, agent);
    expect(shed).toMatchObject({ status: 503, headers: { connection: "keep-alive" } });
    agent.destroy();
  });

  test("a program that accepts JSON gets JSON", async () => {
    await hang(shared.proxy, 8);
    const headers = { accept: "application/json", "sec-fetch-mode": "navigate" };
    const { answer } = await shared.through({ headers });
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body)).toMatchObject({ reason: "too many requests at once; try again in a few seconds" });
    expect(answer.headers["retry-after"]).toBeDefined();
  });

  test.each<[string, Partial<Request>]>([
    ["a form", { method: "POST", headers: { ...html, "sec-fetch-mode": "navigate" }, body: "a=1" }],
    ["a server action", { method: "POST", headers: { accept: "text/x-component", "next-action": "7f" }, body: "[]" }],
    ["an event stream", { headers: { accept: "text/event-stream" } }],
    ["an API call", { path: "/api/x", headers: { accept: "*/*", "sec-fetch-mode": "cors" } }],
    ["a file", { path: "/logo.png", headers: { accept: "image/avif,image/webp,*/*", "sec-fetch-mode": "no-cors" } }],
    ["a hashed file", { path: "/_next/static/chunks/open-0123456789abcdef.js" }],
    ["a probe", { path: "/healthz", headers: html }],
  ])("%s passes", async (_, request) => {
    await hang(shared.proxy, 8);
    const type = { "content-type": "text/javascript" };
    await shared.proxy.web.answer({ ...page, headers: request.path?.endsWith(".js") ? type : page.headers });
    expect(await status(shared.proxy, request)).toBe(200);
    expect(await status(shared.proxy, { headers: html })).toBe(503);
  });

  test("probes of the proxy pass", async () => {
    await hang(shared.proxy, 8);
    for (const path of ["/healthz", "/readyz", "/web", "/metrics"]) await shared.proxy.internal(path);
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

  test("a place is free again when a client has given up, and when web has failed", async () => {
    await hang(shared.proxy, 8);
    expect(await status(shared.proxy, { headers: html })).toBe(503);
    for (const one of open.splice(0)) one.destroy();
    await opens(shared.proxy);
    await shared.proxy.web.answer({ ...page, instead: "reset" });
    for (let n = 0; n < 20; n++) {
      const { body } = await send(shared.proxy.port, { path: "/page", headers: html });
      expect(body).toContain("Back in a moment");
    }
    await shared.proxy.web.answer(page);
    await opens(shared.proxy);
    // All eight, not just one.
    await hang(shared.proxy, 8);
    expect(await status(shared.proxy, { headers: html })).toBe(503);
  });

  test("over HTTP/2, too", async () => {
    await hang(shared.proxy, 8);
    const ask = async (method: string) =>
      (await sendH2(shared.proxy.port, { method, path: "/page", headers: html })).status;
    expect(await ask("GET")).toBe(503);
    expect(await ask("HEAD")).toBe(503);
    for (const one of open.splice(0)) one.destroy();
    await expect.poll(() => ask("GET"), { timeout: 60_000 }).toBe(200);
    expect(await ask("HEAD")).toBe(200);
  });

  test("web is asked for the page, and not whether it has a place", async () => {
    const { received } = await shared.through({ path: "/page", headers: html });
    expect(received).toMatchObject([{ url: "/page" }]);
  });

  test("a page that is let in gets the nonce that it asks for", async () => {
    await shared.proxy.web.answer({ ...page, headers: { ...page.headers, "x-security-headers": "strict" } });
    const policy = async () =>
      (await send(shared.proxy.port, { path: "/page", headers: html })).headers["content-security-policy"];
    expect(await policy()).toContain("nonce-");
  });

  test("log and metrics tell it from a replica that does not answer", async () => {
    const metric = async (labels: string) => {
      const found = (await shared.proxy.internal("/metrics")).split("\n").find((line) => line.startsWith(labels));
      return Number(found?.split(" ").at(-1) ?? 0);
    };
    const shed = 'culvert_pages_total{kind="page",outcome="shed"}';
    const accepted = 'culvert_pages_total{kind="page",outcome="accepted"}';
    const failures = 'culvert_upstream_failures_total{upstream="web"}';
    await hang(shared.proxy, 8);
    const before = [await metric(shed), await metric(failures)];
    const { headers } = await send(shared.proxy.port, { path: "/page", headers: html });
    // An answer is counted once it has been sent.
    await expect.poll(() => metric(shed)).toBe((before[0] ?? 0) + 1);
    expect(await metric(failures)).toBe(before[1]);
    expect(await metric(accepted)).toBeGreaterThan(0);
    const logged = async () =>
      (await shared.proxy.on("proxy", "logs"))
        .split("\n")
        .find((line) => line.includes(String(headers["x-request-id"])));
    await expect.poll(logged).toMatch(/"status":503,.*"reason":"overload"/);
  });

  test("pages that a killed worker had open do not count forever", async () => {
    await hang(shared.proxy, 8);
    const killed = await killWorkers(shared.proxy);
    await opens(shared.proxy);
    await hang(shared.proxy, 8);
    expect(await status(shared.proxy, { headers: html })).toBe(503);
    // The reload replaced workers, but killed none.
    expect(await shared.proxy.internal("/metrics")).toContain(`\nculvert_worker_deaths_total ${killed}\n`);
  });

  test('an app that is gone is still "Back in a moment"', async () => {
    await shared.proxy.on("web", "stop", "-t", "0");
    const body = async () => (await send(shared.proxy.port, { path: "/page", headers: html })).body;
    // First its address does not answer; later its name has none.
    for (let n = 0; n < 3; n++) expect(await body()).toContain("Back in a moment");
    expect(await shared.proxy.internal("/metrics")).toMatch(/^culvert_pages_total\{kind="page",outcome="failed"\} /m);
    const nameless = async () => (await shared.proxy.on("proxy", "logs")).includes('"upstream":"web"');
    await expect
      .poll(async () => [(await body()).includes("Back in a moment"), await nameless()], { timeout: 60_000 })
      .toEqual([true, true]);
    await shared.proxy.restart("web");
    await opens(shared.proxy);
  });
});

describe("OPEN_PAGES_PER_REPLICA with two replicas", () => {
  const shared = useProxy({ OPEN_PAGES_PER_REPLICA: "4", TRUSTED_PROXIES: "0.0.0.0/0" }, { twoReplicas: true });
  test("admits twice as many pages, as many on each", async () => {
    await opens(shared.proxy);
    const counts = async () => [await shared.proxy.web.count(), (await shared.proxy.web2?.count()) ?? 0];
    const before = await counts();
    await hang(shared.proxy, 8);
    expect(await counts()).toEqual(before.map((count) => count + 4));
    expect(await status(shared.proxy, { headers: html })).toBe(503);
  });

  test("leaves places to other clients: one has at most half of a replica's", async () => {
    const client = { ...html, "x-forwarded-for": "203.0.113.1" };
    await opens(shared.proxy);
    await hang(shared.proxy, 2, client);
    const { answer, received } = await shared.through({ headers: client });
    expect(answer).toMatchObject({ status: 429, body: expect.stringContaining("Too many requests") });
    expect(answer.headers["retry-after"]).toBe("5");
    expect(received).toEqual([]);
    expect(await status(shared.proxy, { method: "POST", headers: client, body: "a=1" })).toBe(200);
    expect(await status(shared.proxy, { headers: { ...html, "x-forwarded-for": "198.51.100.1" } })).toBe(200);
    for (const one of open.splice(0)) one.destroy();
    await opens(shared.proxy, client);
  });
});

describe("OPEN_PAGES_PER_REPLICA without a replica that is ready", () => {
  const shared = useProxy({
    OPEN_PAGES_PER_REPLICA: "1",
    WEB_UPSTREAM: "not-ready.invalid:9000",
    WEB_FALLBACK_UPSTREAM: "web:9000",
    REQUEST_RATE_PER_CLIENT: "1",
  });
  test("pages go to WEB_FALLBACK_UPSTREAM, any number of them", async () => {
    await hang(shared.proxy, 3);
    expect(await status(shared.proxy, { headers: html })).toBe(200);
  });
  test("with the limits of other pages", async () => {
    const all = Array.from({ length: 250 }, () => status(shared.proxy, { headers: html }));
    expect(new Set(await Promise.all(all))).toEqual(new Set([200, 429]));
  });
});

describe("without OPEN_PAGES_PER_REPLICA", () => {
  const shared = useProxy();
  test("any number of pages is open, and pages have no upstream of their own", async () => {
    await hang(shared.proxy, 100);
    expect(await status(shared.proxy, { headers: html })).toBe(200);
    expect(await shared.proxy.on("proxy", "exec", "sh", "-c", "cat /tmp/nginx/open-pages.conf")).toBe("");
    // A page is counted after it has been sent.
    const metrics = () => shared.proxy.internal("/metrics");
    await expect.poll(metrics).toMatch(/^culvert_requests_total\{route="page",class="2xx"\} [1-9]/m);
    expect(await metrics()).not.toMatch(/^culvert_pages_total\{/m);
  });
});
