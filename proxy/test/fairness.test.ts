import { type ClientHttp2Session, connect } from "node:http2";
import { afterEach, describe, expect, test } from "vitest";
import { page, type SharedProxy, useProxy } from "./use-proxy.ts";
import { type Request, send } from "./wire.ts";

const trusted = { TRUSTED_PROXIES: "0.0.0.0/0" };
const html = { accept: "text/html" };
const prefetch = { rsc: "1", "next-router-prefetch": "1" };
const unmarked = { accept: "*/*" };
const api = { ...unmarked, ":path": "/api/x" };
const hanging = { ...page, instead: "hang" } as const;
const [another, flooding] = ["198.51.100.1", "203.0.113.1"];

const sessions: ClientHttp2Session[] = [];
const close = () => {
  for (const session of sessions.splice(0)) session.destroy();
};
afterEach(close);

/** Begins requests of this client over HTTP/2; returns how many got which status so far. */
function begin(shared: SharedProxy, client: string, count: number, headers: Record<string, string> = html) {
  const statuses: Record<number, number> = {};
  for (let left = count; left > 0; left -= 100) {
    const session = connect(`https://127.0.0.1:${shared.proxy.port}`, {
      servername: "localhost",
      rejectUnauthorized: false,
    });
    sessions.push(session.on("error", () => undefined));
    for (let n = 0; n < Math.min(100, left); n++) {
      const path = { ":path": "/page", ":authority": `localhost:${shared.proxy.port}` };
      const stream = session.request({ ...path, "x-forwarded-for": client, ...headers }, { endStream: true });
      stream.on("error", () => undefined).resume();
      stream.on("response", ({ ":status": status = 0 }) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
      });
    }
  }
  return statuses;
}

const ask = async ({ proxy }: SharedProxy, client: string, request: Partial<Request> = {}) =>
  (await send(proxy.port, { path: "/page", headers: { "x-forwarded-for": client, ...html }, ...request })).status;

async function metric({ proxy }: SharedProxy, name: string): Promise<number> {
  const metrics = await proxy.internal("/metrics");
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(metrics)?.[1]);
}
const limited = (shared: SharedProxy) => metric(shared, "culvert_clients_limited");
const poll = (value: () => Promise<number>) => expect.poll(value, { timeout: 120_000 });

/** Lets two clients have a page each, so that each has others. */
async function meet({ proxy }: SharedProxy): Promise<void> {
  await proxy.web.answer(page);
  for (const client of [another, "198.51.100.2"])
    expect((await send(proxy.port, { path: "/page", headers: { "x-forwarded-for": client } })).status).toBe(200);
}

/** Begins requests that web does not answer, waits until web has this many of them, and lets web answer all further ones. */
async function hang(shared: SharedProxy, received: number, ...[client, count, headers]: [string, number, object?]) {
  const { web } = shared.proxy;
  await web.answer(hanging);
  const mark = await web.count();
  const statuses = begin(shared, client, count, { ...(headers ?? html) });
  await poll(async () => (await web.count()) - mark).toBeGreaterThanOrEqual(received);
  await web.answer(page);
  return { statuses, received: async () => (await web.count()) - mark };
}

describe("a client that leaves web to others", () => {
  const shared = useProxy(trusted);

  test("is not limited if it is the only one", async () => {
    await hang(shared, 150, flooding, 150);
    expect(await limited(shared)).toBe(0);
  });

  test("is not limited if its address is private, which may be a load balancer's", async () => {
    await meet(shared);
    await hang(shared, 150, "10.0.0.1", 150);
    expect(await limited(shared)).toBe(0);
  });

  test("is not limited for streams that are open, nor for API calls that take long", async () => {
    await meet(shared);
    await shared.proxy.web.answer({ ...page, headers: { "content-type": "text/event-stream" }, rest: "data: 2\n\n" });
    for (const kind of [html, unmarked, api]) {
      for (let n = 0; n < 4; n++) {
        const statuses = begin(shared, flooding, 20, kind);
        await poll(async () => statuses[200] ?? 0).toBe(20);
      }
    }
    expect(await metric(shared, "culvert_pages_open")).toBe(0);
    await hang(shared, 150, flooding, 150, api);
    await shared.proxy.web.proceed();
    expect(await limited(shared)).toBe(0);
  });

  test("is not limited while others have more pages open", async () => {
    await meet(shared);
    const { web } = shared.proxy;
    await web.answer(hanging);
    const five = [1, 2, 3, 4, 5].map((n) => `203.0.113.${n}`);
    for (const each of [30, 10]) {
      const before = await web.count();
      for (const client of five) begin(shared, client, each);
      await poll(async () => (await web.count()) - before).toBe(5 * each);
    }
    expect(await limited(shared)).toBe(0);
  });

  test("is not limited for what web has not answered for seconds", async () => {
    await hang(shared, 20, flooding, 20);
    await poll(() => metric(shared, "culvert_pages_open")).toBe(0);
  });
});

describe("a client that has too many pages open", () => {
  const shared = useProxy(trusted);

  test("waits, and others do not; when it stops it is free again", async () => {
    await meet(shared);
    const flood = await hang(shared, 32, flooding, 1_000);
    // 20 a second: 48 seconds for all.
    expect(await flood.received()).toBeLessThan(1_000);
    await poll(() => limited(shared)).toBe(1);
    expect(await ask(shared, another)).toBe(200);
    expect(await ask(shared, another, { method: "POST", body: "a=1" })).toBe(200);
    close();
    await poll(() => limited(shared)).toBe(0);
    expect(await ask(shared, flooding)).toBe(200);
  });

  test("gets 429 for prefetches that would wait for long; a click does not wait behind them", async () => {
    await meet(shared);
    const flood = await hang(shared, 64, "203.0.113.2", 900, prefetch);
    expect(await ask(shared, "203.0.113.2")).toBe(200);
    expect(await ask(shared, another)).toBe(200);
    await poll(async () => flood.statuses[429] ?? 0).toBeGreaterThan(100);
    await poll(() => limited(shared)).toBeGreaterThan(0);
  });

  test("even if it calls them prefetches, or has as many other requests open", async () => {
    await poll(() => limited(shared)).toBe(0);
    await meet(shared);
    begin(shared, "203.0.113.5", 400, api);
    await hang(shared, 32, "203.0.113.5", 100, { ...html, "sec-purpose": "prefetch" });
    await poll(() => limited(shared)).toBe(1);
  });

  test("even if its requests do not say that they are for pages: at an address of a page", async () => {
    await poll(() => limited(shared)).toBe(0);
    await meet(shared);
    await hang(shared, 32, "203.0.113.4", 100, unmarked);
    await poll(() => limited(shared)).toBe(1);
    expect(await ask(shared, another)).toBe(200);
  });

  test("and at any address", async () => {
    await poll(() => limited(shared)).toBe(0);
    await meet(shared);
    const client = "203.0.113.3";
    // Once web has answered as many with pages, which count for seconds.
    const more = async () => {
      await shared.proxy.web.answer(page);
      // A POST says nothing about its address.
      const form = { ...unmarked, ":method": "POST" };
      const answered = begin(shared, client, 150, form);
      await poll(async () => answered[200] ?? 0).toBe(150);
      await hang(shared, 32, client, 100, form);
      return limited(shared);
    };
    await poll(more).toBe(1);
    expect(await ask(shared, another)).toBe(200);
  });
});

describe.each([
  ["`off`", { PAGE_RATE_PER_CLIENT: "off" }],
  ["addresses that stand for many clients", { OPEN_REQUESTS_PER_CLIENT: "off" }],
])("with %s", (_, settings: Record<string, string>) => {
  const shared = useProxy({ ...trusted, ...settings });
  test("no client is limited", async () => {
    await meet(shared);
    await hang(shared, 150, flooding, 150);
    expect(await limited(shared)).toBe(0);
  });
});
