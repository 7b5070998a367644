import { Agent } from "node:https";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { closeHeld, hold } from "./held.ts";
import { envelope as body, changed, page, type SharedProxy, trusting, useProxy } from "./use-proxy.ts";
import { type Request, send } from "./wire.ts";

const unfinished = { ...page, rest: "<p>rest</p>" };
const [client, another] = ["203.0.113.1", "198.51.100.1"];
const envelope = { method: "POST", path: "/monitoring", body };
const file = "/_next/static/chunks/main-0123456789abcdef.js";
const script = { "content-type": "application/javascript", "cache-control": "public, max-age=31536000, immutable" };

const few = useProxy({
  ...trusting,
  MAX_CONCURRENT_REQUESTS_PER_CLIENT: "3",
  WEBSOCKET_PATH: "/socket",
  TUNNEL_CLIENT_IP: "withhold",
});
const byDefault = useProxy(trusting);
// A slow machine sends less than 40 envelopes a second.
const slowly = changed("templates/tunnel-limits.conf", { TUNNEL_RATE_TOTAL: "TUNNEL_RATE_PER_CLIENT" });
const rates = useProxy(
  { ...trusting, REQUEST_RATE_PER_CLIENT: "1", TUNNEL_RATE_PER_CLIENT: "1", TUNNEL_CLIENT_IP: "truncate" },
  { mounts: slowly },
);

const web = new Set<SharedProxy>();
/** Ends what `fill` has begun. Nginx fetches what it may store to the end, even if its client has gone. */
const close = async () => {
  closeHeld();
  for (const { proxy } of web) await proxy.web.proceed();
  web.clear();
};
afterEach(close);

const ask = async ({ proxy }: SharedProxy, client: string, request: Partial<Request> = {}) =>
  (await send(proxy.port, { path: "/page", ...request, client })).status;

async function fill(shared: SharedProxy, count: number, client: string, path = "/page"): Promise<void> {
  const { proxy } = shared;
  web.add(shared);
  await proxy.web.answer(unfinished);
  const mark = await proxy.web.count();
  await hold(proxy.port, count, { path, client });
  await expect.poll(() => proxy.web.count()).toBe(mark + count);
  await proxy.web.answer(page);
}

describe("with MAX_CONCURRENT_REQUESTS_PER_CLIENT=3, a client that has as many at web", () => {
  const shared = few;
  const isFree = () => expect.poll(() => ask(shared, client)).toBe(200);
  beforeEach(isFree);

  test.each(["/page", "/_next/static/chunks/missing-*.js"])(
    "gets 429, whatever it asks for, and the log says why: %s",
    async (kind) => {
      await fill(shared, 3, client, kind);
      const { answer, received } = await shared.through({ client, headers: { accept: "application/json" } });
      expect(answer).toMatchObject({ status: 429, headers: { "retry-after": "5" } });
      expect(JSON.parse(answer.body).reason).toMatch(/^too many requests/);
      expect(received).toEqual([]);
      for (const path of ["/socket", "/_next/static/chunks/missing-too.js"])
        expect(await ask(shared, client, { path })).toBe(429);
      for (const size of [3, 100_000])
        expect(await ask(shared, client, { method: "POST", body: Buffer.alloc(size) })).toBe(429);

      expect(await ask(shared, another)).toBe(200);
      expect(await ask(shared, client, envelope)).toBe(200);
      const { reason } = await shared.proxy.logged(answer.headers["x-request-id"]);
      expect(reason).toBe("rate_limit");
      await close();
      await isFree();
    },
  );

  test("gets files from the store", async () => {
    await shared.proxy.web.answer({ ...page, headers: script });
    expect(await ask(shared, another, { path: file })).toBe(200);
    await fill(shared, 3, client);
    expect(await ask(shared, client, { path: file })).toBe(200);
  });

  test("is an IPv6 /64, and its /48 has four times as many", async () => {
    await fill(shared, 3, "2001:db8:1:1::1");
    expect(await ask(shared, "2001:db8:1:1:2::")).toBe(429);
    for (const n of [2, 3, 4]) await fill(shared, 3, `2001:db8:1:${n}::1`);
    expect(await ask(shared, "2001:db8:1:5::1")).toBe(429);
    expect(await ask(shared, "2001:db8:2:1::1")).toBe(200);
    expect(await ask(shared, "::ffff:198.51.100.9")).toBe(200);
    // A private address, too.
    await fill(shared, 3, "10.0.0.1");
    expect(await ask(shared, "10.0.0.1")).toBe(429);
  });
});

describe("by default", () => {
  const shared = byDefault;

  test("200 event streams of an office and a hundred pages at a time pass, further requests of it do not", async () => {
    const stream = { ...page, headers: { "content-type": "text/event-stream" }, rest: "data: 2\n\n" };
    await shared.proxy.web.answer(stream);
    web.add(shared);
    const { answered } = await hold(shared.proxy.port, 200, { client, path: "/events" });
    expect(await answered).toEqual({ 200: 200 });
    await fill(shared, 100, client);
    expect(await ask(shared, client)).toBe(429);
    expect(await ask(shared, another)).toBe(200);
  });

  test("a private address, which may be a load balancer's, has no limit", async () => {
    await fill(shared, 400, "10.0.0.1");
    expect(await ask(shared, "10.0.0.1")).toBe(200);
  });
});

test.each([
  ["pages", client, "/page"],
  ["files that are not stored", "203.0.113.3", "/_next/static/chunks/missing-*.js"],
  ["a /64 of IPv6", "2001:db8::1", "/page"],
])("REQUEST_RATE_PER_CLIENT rejects with 429 what exceeds it after a burst of 200: %s", async (_, flooding, path) => {
  await rates.proxy.web.answer({ ...page, status: path === "/page" ? 200 : 404 });
  const statuses = await (await hold(rates.proxy.port, 300, { client: flooding, path })).answered;
  expect(statuses[429]).toBeGreaterThan(0);
  expect(300 - (statuses[429] ?? 0)).toBeGreaterThanOrEqual(200);
  await rates.proxy.web.answer(page);
  expect(await ask(rates, another)).toBe(200);
  expect(await ask(rates, flooding, envelope)).toBe(200);
});

test.each<[string, SharedProxy, string, string | undefined]>([
  ["forward", byDefault, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"],
  ["truncate", rates, "203.0.113.77", "203.0.113.0"],
  ["truncate", rates, "2001:db8:1:2:3:4:5:6", "2001:db8:1::"],
  ["truncate", rates, "2001:db8::6", "2001:db8::"],
  ["truncate", rates, "2001::6", "2001::"],
  ["truncate", rates, "::1", undefined],
  ["withhold", few, "203.0.113.77", undefined],
])("with TUNNEL_CLIENT_IP=%s, the ingest gets no more of a client IP: %#", async (_, shared, client, expected) => {
  const { header } = await shared.post({ client });
  expect(["x-forwarded-for", "x-sentry-forwarded-for"].map(header)).toEqual([expected, expected]);
});

test("the rate of all envelopes is 40 times that of one client", async () => {
  expect(await byDefault.proxy.inside("cat /tmp/nginx/tunnel-limits.conf")).toMatch(/rate=50r.*\n.*rate=2000r/);
});

const hex = (n: number) => n.toString(16);

test.each<[string, number, boolean, (n: number) => string]>([
  ["an IPv6 /64", 300, true, (n) => `2001:db8:1:1:${hex(n)}::1`],
  ["240 of them", 240, false, (n) => `2001:db8:2:${hex(n)}::1`],
  ["240 IPv4 addresses, written as IPv6", 240, false, (n) => `::ffff:198.51.100.${n}`],
  // After a burst of 1,000.
  ["all clients", 1_300, true, (n) => `203.0.${n % 100}.1`],
])(
  "envelopes above the rate limit get 429 with limits for low-priority categories, not for errors: %s",
  async (_, count, areAbove, client) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    const mark = await rates.proxy.ingest.count();
    const sent = Array.from({ length: count }, (_, n) => {
      const [path, type] = n % 2 ? ["/monitoring", "text/plain"] : ["/monitoring/csp", "application/csp-report"];
      const request = { method: "POST", path, client: client(n), headers: { "content-type": type }, body: "{}\n" };
      return send(rates.proxy.port, request, agent);
    });
    const answers = await Promise.all(sent);
    agent.destroy();
    const rejected = answers.filter(({ status }) => status !== 200);
    expect(rejected.length > 0).toBe(areAbove);
    expect(await rates.proxy.ingest.count()).toBe(mark + answers.length - rejected.length);
    // A 429 without limits would stop every category.
    const limits = "60:replay;profile;profile_chunk;transaction;span;session:key:culvert_rate_limit";
    const headers = { "retry-after": "60", "x-sentry-rate-limits": limits, "cache-control": "no-cache" };
    for (const answer of rejected) expect(answer).toMatchObject({ status: 429, headers });
    expect((await rates.through()).answer.status).toBe(200);
  },
);
