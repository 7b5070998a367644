import { randomBytes } from "node:crypto";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { closeHeld, hold } from "./held.ts";
import { page, type SharedProxy, trusting, useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

const file = "/_next/static/chunks/main-0123456789abcdef.js";
const image = "/_next/image?url=%2F_next%2Fstatic%2Fmedia%2Fa.0a1b2c3d.png&w=64&q=75";
const paths = ["/page", image, file];
const types: Record<string, string> = { [file]: "application/javascript", [image]: "image/png" };
/** More than Nginx buffers of a response, compressed too. */
const body = randomBytes(150_000).toString("hex");

const others = "198.51.100.1";
afterEach(closeHeld);

const get = ({ proxy }: SharedProxy, path: string, client: string) =>
  send(proxy.port, { path, client, headers: { accept: "text/html" } });
async function answerWith({ proxy }: SharedProxy, path: string): Promise<void> {
  const cacheControl = path in types ? "public, max-age=31536000, immutable" : "no-store";
  const headers = { "content-type": types[path] ?? "text/html", "cache-control": cacheControl };
  await proxy.web.answer({ ...page, headers, body });
}
async function store(shared: SharedProxy): Promise<void> {
  for (const path of paths) {
    await answerWith(shared, path);
    expect((await get(shared, path, others)).status).toBe(200);
  }
}

/** Requests of this client that nobody reads; returns how many got which status. */
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
    for (const other of paths) expect((await get(shared, other, others)).status).toBe(200);

    for (const client of clients.slice(1)) expect(await fill(shared, path, 100, client)).toEqual({ 200: 100 });
    for (const other of paths)
      expect(await get(shared, other, others)).toMatchObject({
        status: 429,
        headers: { "retry-after": expect.stringMatching(/^\d+$/), "cache-control": "no-cache" },
        body: expect.stringMatching(/^<!doctype html>.*Too many requests/s),
      });

    closeHeld();
    const statuses = () => Promise.all([...clients, others].map(async (c) => (await get(shared, "/page", c)).status));
    await expect.poll(statuses).toEqual([200, 200, 200, 200]);
  });

  test("after 100 rejected requests of a client, its further ones are closed, and others have a page", async () => {
    await answerWith(shared, "/page");
    const statuses = await fill(shared, "/page", 300, "203.0.113.9");
    expect(statuses[200]).toBe(100);
    expect(statuses.closed).toBeGreaterThan(0);
    expect((await get(shared, "/page", others)).status).toBe(200);
  });
});

describe("with MAX_CONCURRENT_REQUESTS_PER_CLIENT=off, unread", () => {
  const shared = useProxy({ ...trusting, MAX_CONCURRENT_REQUESTS_PER_CLIENT: "off", MAX_CONCURRENT_REQUESTS: "1000" });
  beforeAll(() => store(shared));

  /** Bytes that the kernel counts for the container, in either version of cgroups. */
  async function memory(): Promise<number> {
    const files = "cd /sys/fs/cgroup; cat memory.current 2>/dev/null || cat memory/memory.usage_in_bytes";
    return Number(await shared.proxy.inside(files));
  }

  test.each(paths)("%s of one client leave others theirs, and of four crash no worker", async (path) => {
    await answerWith(shared, path);
    expect(await fill(shared, path, 400, "203.0.113.1")).toEqual({ 200: 400 });
    expect((await get(shared, "/page", others)).status).toBe(200);
    for (const client of ["203.0.113.2", "203.0.113.3", "203.0.113.4"]) await fill(shared, path, 250, client);
    // 1,000 requests of 245 kB (docs/memory.md), and what the proxy needs without them.
    expect(await memory()).toBeLessThan(1_000 * 245e3 + 100e6);
    expect(await shared.proxy.log()).not.toMatch(/exited on signal/);
  });
});
