import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { closeHeld, hold } from "./held.ts";
import { envelope as body, page, type SharedProxy, trusting, useProxy } from "./use-proxy.ts";
import { type Request, send } from "./wire.ts";

/** A page whose rest web sends when the test has ended. */
const unfinished = { ...page, rest: "<p>rest</p>" };
const [client, another] = ["203.0.113.1", "198.51.100.1"];
const envelope = { method: "POST", path: "/monitoring", body };
const file = "/_next/static/chunks/main-0123456789abcdef.js";
const script = { "content-type": "application/javascript", "cache-control": "public, max-age=31536000, immutable" };

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

/** Begins requests that web does not finish, waits until it has them all, and lets it answer further ones. */
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
  const shared = useProxy({ ...trusting, MAX_CONCURRENT_REQUESTS_PER_CLIENT: "3", WEBSOCKET_PATH: "/socket" });
  const isFree = () => expect.poll(() => ask(shared, client)).toBe(200);
  beforeEach(isFree);

  test.each(["/page", "/api/x", "/_next/static/chunks/missing-*.js", "/_next/image?url=%2F*.png&w=64&q=75"])(
    "gets 429, whatever it asks for: %s",
    async (kind) => {
      await fill(shared, 3, client, kind);
      const { answer, received } = await shared.through({ client, headers: { accept: "text/html" } });
      expect(answer).toMatchObject({ status: 429, headers: { "retry-after": "5" } });
      expect(answer.body).toMatch(/<meta http-equiv="refresh" content="5">.*Too many requests/s);
      expect(received).toEqual([]);
      const image = "/_next/image?url=%2Fb.png&w=64&q=75";
      for (const path of ["/api/x", "/socket", "/_next/static/chunks/missing-too.js", image])
        expect(await ask(shared, client, { path })).toBe(429);
      for (const size of [3, 100_000])
        expect(await ask(shared, client, { method: "POST", body: Buffer.alloc(size) })).toBe(429);

      expect(await ask(shared, another)).toBe(200);
      expect(await ask(shared, client, envelope)).toBe(200);
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

  test("gets JSON if it accepts that; the log says why", async () => {
    await fill(shared, 3, client);
    const { answer } = await shared.through({ client, headers: { accept: "application/json" } });
    expect(JSON.parse(answer.body).reason).toMatch(/^too many requests/);
    const line = await shared.proxy.logged(answer.headers["x-request-id"]);
    expect(line).toMatchObject({ status: 429, reason: "rate_limit" });
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
  const shared = useProxy(trusting);

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

describe("REQUEST_RATE_PER_CLIENT", () => {
  const shared = useProxy({ ...trusting, REQUEST_RATE_PER_CLIENT: "1" });

  test.each([
    ["pages", client, "/page"],
    ["files that are not stored", "203.0.113.3", "/_next/static/chunks/missing-*.js"],
    ["a /64 of IPv6", "2001:db8::1", "/page"],
  ])("rejects with 429 what exceeds it after a burst of 200: %s", async (_, flooding, path) => {
    await shared.proxy.web.answer({ ...page, status: path === "/page" ? 200 : 404 });
    const statuses = await (await hold(shared.proxy.port, 300, { client: flooding, path })).answered;
    expect(statuses[429]).toBeGreaterThan(0);
    expect(300 - (statuses[429] ?? 0)).toBeGreaterThanOrEqual(200);
    await shared.proxy.web.answer(page);
    expect(await ask(shared, another)).toBe(200);
    expect(await ask(shared, flooding, envelope)).toBe(200);
  });
});
