import { afterEach, describe, expect, test } from "vitest";
import { closeHeld, stall } from "./held.ts";
import { trusting, useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

// The bytes of the first one are separators in templates/ingest.conf.
const [client, another] = ["124.124.124.124", "198.51.100.1"];
afterEach(closeHeld);

describe("stalled envelopes of one client", () => {
  const shared = useProxy({ ...trusting, TUNNEL_CLIENT_IP: "withhold" }, { spool: true });
  const post = (from: string, size: number) =>
    send(shared.proxy.port, { method: "POST", path: "/monitoring", client: from, body: Buffer.alloc(size) });
  const large = (from: string) => post(from, 1 << 20);

  test.each([
    ["of 999,999 bytes", 140, 999_899, false],
    ["of 70 kB", 140, 70_000, false],
    ["of 19 MB", 20, 19 << 20, false],
    ["of 19 MB that do not say their length", 7, 19 << 20, true],
  ])("leave others their capacity: %s", async (_, count, size, chunked) => {
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
});

describe("large envelopes of many clients", () => {
  const shared = useProxy(trusting);
  test("leave pages their capacity, and browsers queue what exceeds it", async () => {
    let number = 0;
    const next = (size: number) => stall(shared.proxy.port, "/monitoring", `203.0.113.${++number}`, size).written;
    for (let n = 0; n < 6; n++) await next(19 << 20);
    const post = async (path: string) =>
      (await send(shared.proxy.port, { method: "POST", path, body: Buffer.alloc(1 << 20) })).status;
    let status = 200;
    for (; status === 200; status = await post("/monitoring")) await next(1 << 20);
    expect(status).toBe(503);
    expect(await post("/form")).toBe(200);
  });
});

describe("stalled bodies to web", () => {
  const shared = useProxy({ ...trusting, MAX_CONCURRENT_REQUESTS_PER_CLIENT: "100" });
  /** Bytes in /tmp: files of bodies have no name. */
  const used = async () => Number(await shared.proxy.inside("df --block-size=1 --output=used /tmp | tail -n 1"));

  test.each([900_000, 5_000])(
    "of one client wait nowhere in /tmp, count towards their client's limit, and leave others theirs: %i bytes",
    async (size) => {
      const before = await used();
      const begin = () => stall(shared.proxy.port, "/form", client, size).written;
      await Promise.all(Array.from({ length: 100 }, begin));
      const body = Buffer.alloc(900_000);
      const form = async (from: string) =>
        (await send(shared.proxy.port, { method: "POST", path: "/form", client: from, body })).status;
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
});
