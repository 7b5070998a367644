import { randomBytes } from "node:crypto";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { closeHeld, hold, stall } from "./held.ts";
import { page, type SharedProxy, trusting, useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

// The bytes of the first one are separators in templates/ingest.conf.
const [client, another] = ["124.124.124.124", "198.51.100.1"];
afterEach(closeHeld);

const shared = useProxy({ ...trusting, TUNNEL_CLIENT_IP: "withhold" }, { spool: true });
const post = (from: string, size: number) =>
  send(shared.proxy.port, { method: "POST", path: "/monitoring", client: from, body: Buffer.alloc(size) });
const large = (from: string) => post(from, 1 << 20);

test.each([
  ["of 70 kB", 140, 70_000, false],
  ["of 19 MB", 20, 19 << 20, false],
  ["of 19 MB that do not say their length", 7, 19 << 20, true],
])("stalled envelopes of one client leave others their capacity: %s", async (_, count, size, chunked) => {
  // Until those of the test before have ended.
  const four = () => Promise.all(Array.from({ length: 4 }, async () => (await large(client)).status));
  await expect.poll(four).toEqual([200, 200, 200, 200]);
  const answers: string[] = [];
  for (let n = 0; n < count; n++)
    stall(shared.proxy.port, "/monitoring", client, size, chunked).answer.then((line) => answers.push(line));
  // All but four, before their bodies have ended: also those above the rate limit.
  await expect.poll(() => answers.length).toBeGreaterThanOrEqual(count - 4);
  // A client that is still busy sending may be cut off before it reads the response.
  for (const line of answers) expect(line).toMatch(/^(HTTP\/1\.1 (503|429) |cut$)/);
  const body = '{"reason":"no capacity for this envelope now"}';
  expect(await large(client)).toMatchObject({ status: 503, body, headers: { "cache-control": "no-cache" } });
  expect((await large(another)).status).toBe(200);
  expect((await post(client, 40_000)).status).toBe(200);
  const rejected = () => shared.proxy.metric('culvert_tunnel_envelopes_total{outcome="rejected",reason="capacity"}');
  await expect.poll(rejected).toBeGreaterThan(0);
  expect(await shared.proxy.log()).not.toContain(client);
});

const limited = useProxy({ ...trusting, MAX_CONCURRENT_REQUESTS_PER_CLIENT: "100" });

test("large envelopes of many clients leave pages their capacity, and browsers queue what exceeds it", async () => {
  let number = 0;
  const next = (size: number) => stall(limited.proxy.port, "/monitoring", `203.0.113.${++number}`, size).written;
  for (let n = 0; n < 6; n++) await next(19 << 20);
  const post = async (path: string) =>
    (await send(limited.proxy.port, { method: "POST", path, body: Buffer.alloc(1 << 20) })).status;
  let status = 200;
  for (; status === 200; status = await post("/monitoring")) await next(1 << 20);
  expect(status).toBe(503);
  expect(await post("/form")).toBe(200);
});

/** Bytes in /tmp: files of bodies have no name. */
const used = async () => Number(await limited.proxy.inside("df --block-size=1 --output=used /tmp | tail -n 1"));

test.each([900_000, 5_000])(
  "stalled bodies of one client to web wait nowhere in /tmp, count towards their client's limit, and leave others theirs: %i bytes",
  async (size) => {
    const before = await used();
    const begin = () => stall(limited.proxy.port, "/form", client, size).written;
    await Promise.all(Array.from({ length: 100 }, begin));
    const body = Buffer.alloc(900_000);
    const form = async (from: string) =>
      (await send(limited.proxy.port, { method: "POST", path: "/form", client: from, body })).status;
    // Nginx may not have read the last headers yet, or given up a body of which this process sent nothing for ten seconds.
    const onceMore = async () => {
      await begin();
      return form(client);
    };
    await expect.poll(onceMore).toBe(429);
    expect((await used()) - before).toBeLessThan(1e6);
    expect(await form(another)).toBe(200);
  },
);

const file = "/_next/static/chunks/main-0123456789abcdef.js";
const paths = ["/page", file];
/** More than Nginx buffers of a response, compressed too. */
const body = randomBytes(150_000).toString("hex");

const get = ({ proxy }: SharedProxy, path: string, client: string) =>
  send(proxy.port, { path, client, headers: { accept: "text/html" } });
async function answerWith({ proxy }: SharedProxy, path: string): Promise<void> {
  const script = { "content-type": "application/javascript", "cache-control": "max-age=31536000, immutable" };
  await proxy.web.answer({ ...page, ...(path === file && { headers: script }), body });
}
async function store(shared: SharedProxy): Promise<void> {
  for (const path of paths) {
    await answerWith(shared, path);
    expect((await get(shared, path, another)).status).toBe(200);
  }
}

async function fill({ proxy }: SharedProxy, path: string, count: number, client: string) {
  return (await hold(proxy.port, count, { path, client, headers: { "accept-encoding": "gzip" } }, false)).answered;
}

describe("with small limits, unread", () => {
  const shared = useProxy({ ...trusting, MAX_CONCURRENT_REQUESTS_PER_CLIENT: "100", MAX_CONCURRENT_REQUESTS: "300" });
  beforeAll(() => store(shared));

  test.each(paths)("%s of one client leave others theirs; of all, further ones get 429 at once", async (path) => {
    const clients = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;
    await answerWith(shared, path);
    expect(await fill(shared, path, 120, clients[0])).toEqual({ 200: 100, 429: 20 });
    expect((await get(shared, "/page", clients[0])).status).toBe(429);
    for (const other of paths) expect((await get(shared, other, another)).status).toBe(200);

    for (const client of clients.slice(1)) expect(await fill(shared, path, 100, client)).toEqual({ 200: 100 });
    for (const other of paths)
      expect(await get(shared, other, another)).toMatchObject({
        status: 429,
        headers: { "retry-after": expect.stringMatching(/^\d+$/), "cache-control": "no-cache" },
        body: expect.stringMatching(/<meta http-equiv="refresh" content="5">.*Too many requests/s),
      });

    closeHeld();
    const statuses = () => Promise.all([...clients, another].map(async (c) => (await get(shared, "/page", c)).status));
    await expect.poll(statuses).toEqual([200, 200, 200, 200]);
  });

  test("after 100 rejected requests of a client, its further ones are closed, and others have a page", async () => {
    await answerWith(shared, "/page");
    const statuses = await fill(shared, "/page", 300, "203.0.113.9");
    expect(statuses[200]).toBe(100);
    expect(statuses.closed).toBeGreaterThan(0);
    expect((await get(shared, "/page", another)).status).toBe(200);
  });
});

describe("with MAX_CONCURRENT_REQUESTS_PER_CLIENT=off, unread", () => {
  const shared = useProxy({ ...trusting, MAX_CONCURRENT_REQUESTS_PER_CLIENT: "off", MAX_CONCURRENT_REQUESTS: "1000" });
  beforeAll(() => store(shared));

  async function memory(): Promise<number> {
    const files = "cd /sys/fs/cgroup; cat memory.current 2>/dev/null || cat memory/memory.usage_in_bytes";
    return Number(await shared.proxy.inside(files));
  }

  test.each(paths)("%s of one client leave others theirs, and of four crash no worker", async (path) => {
    await answerWith(shared, path);
    expect(await fill(shared, path, 400, "203.0.113.1")).toEqual({ 200: 400 });
    expect((await get(shared, "/page", another)).status).toBe(200);
    for (const client of ["203.0.113.2", "203.0.113.3", "203.0.113.4"]) await fill(shared, path, 250, client);
    // 1,000 requests of 245 kB (docs/memory.md), and what the proxy needs without them.
    expect(await memory()).toBeLessThan(1_000 * 245e3 + 100e6);
    expect(await shared.proxy.log()).not.toMatch(/exited on signal/);
  });
});
