import { randomBytes } from "node:crypto";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { requestUnread, type Unread } from "./unread.ts";
import { page, type SharedProxy, useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

const file = "/_next/static/chunks/main-0123456789abcdef.js";
const image = "/_next/image?url=%2Fa.png&w=64&q=75";
const paths = [
  ["pages", "/page"],
  ["images", image],
  ["files", file],
] as const;
const types: Record<string, string> = { [file]: "application/javascript", [image]: "image/png" };
/** More than Nginx buffers of a response, compressed too. */
const body = randomBytes(150_000).toString("hex");

const trusted = { TRUSTED_PROXIES: "0.0.0.0/0" };
const others = "198.51.100.1";
const open: Unread[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

async function answerWith({ proxy }: SharedProxy, path: string): Promise<void> {
  const cacheControl = path in types ? "public, max-age=31536000, immutable" : "no-store";
  const headers = { "content-type": types[path] ?? "text/html", "cache-control": cacheControl };
  await proxy.web.answer({ ...page, headers, body });
}
async function store(shared: SharedProxy): Promise<void> {
  for (const path of [image, file, "/page"]) {
    await answerWith(shared, path);
    expect((await get(shared, path, others)).status).toBe(200);
  }
}
const get = ({ proxy }: SharedProxy, path: string, client: string, accept = "text/html") =>
  send(proxy.port, { path, headers: { "x-forwarded-for": client, accept } });

/** Requests of these clients, one after the other, that nobody reads; returns how many got which status. */
async function fill({ proxy }: SharedProxy, path: string, count: number, ...clients: string[]) {
  const statuses: Record<string, number>[] = [];
  for (const client of clients) {
    const unread = await requestUnread(proxy.port, path, client, count);
    open.push(unread);
    statuses.push(unread.statuses);
  }
  return statuses;
}

describe("with small limits, unread", () => {
  const shared = useProxy({ ...trusted, MAX_CONCURRENT_REQUESTS_PER_CLIENT: "100", MAX_CONCURRENT_REQUESTS: "300" });
  beforeAll(() => store(shared));

  test.each(paths)("%s of one client leave others theirs; of all, further ones get 429 at once", async (_, path) => {
    const clients = ["203.0.113.1", "203.0.113.2", "203.0.113.3"];
    await answerWith(shared, path);
    expect(await fill(shared, path, 120, "203.0.113.1")).toEqual([{ 200: 100, 429: 20 }]);
    expect((await get(shared, "/page", "203.0.113.1")).status).toBe(429);
    for (const other of ["/page", file, image]) expect((await get(shared, other, others)).status).toBe(200);

    expect(await fill(shared, path, 100, ...clients.slice(1))).toEqual([{ 200: 100 }, { 200: 100 }]);
    for (const other of ["/page", file, image])
      expect(await get(shared, other, others)).toMatchObject({
        status: 429,
        headers: { "retry-after": expect.stringMatching(/^\d+$/), "cache-control": "no-cache" },
        body: expect.stringMatching(/^<!doctype html>.*Too many requests/s),
      });

    for (const one of open.splice(0)) one.close();
    const statuses = () => Promise.all([...clients, others].map(async (c) => (await get(shared, "/page", c)).status));
    await expect.poll(statuses).toEqual([200, 200, 200, 200]);
  });

  test("after 100 rejected requests of a client, its further ones are closed, and others have a page", async () => {
    const [statuses] = await fill(shared, "/page", 300, "203.0.113.9");
    expect(statuses?.[200]).toBe(100);
    expect(statuses?.closed).toBeGreaterThan(0);
    expect((await get(shared, "/page", others)).status).toBe(200);
  });
});

describe("with the number of requests of one client unlimited at web, unread", () => {
  const shared = useProxy({ ...trusted, MAX_CONCURRENT_REQUESTS_PER_CLIENT: "2000" }, { memory: true });
  beforeAll(() => store(shared));

  /** Bytes that the kernel counts for the container, in either version of cgroups. */
  async function memory(): Promise<number> {
    const files = "cd /sys/fs/cgroup; cat memory.current 2>/dev/null || cat memory/memory.usage_in_bytes";
    return Number(await shared.proxy.on("proxy", "exec", "sh", "-c", files));
  }

  test.each(paths)("%s of one client leave others theirs, and of four crash no worker", async (_, path) => {
    await answerWith(shared, path);
    await fill(shared, path, 1_100, "203.0.113.1");
    expect((await get(shared, "/page", others)).status).toBe(200);
    await fill(shared, path, 1_000, ...["203.0.113.2", "203.0.113.3", "203.0.113.4"]);
    // 3,000 requests of 245 kB, and what the proxy needs without them: SECURITY.md.
    expect(await memory()).toBeLessThan(3_000 * 245e3 + 200e6);
    expect(await shared.proxy.on("proxy", "logs")).not.toMatch(/exited on signal/);
  });
});
