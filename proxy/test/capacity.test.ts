import { afterEach, describe, expect, test } from "vitest";
import { closeHeld, stall } from "./held.ts";
import { useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

const trusted = { TRUSTED_PROXIES: "0.0.0.0/0", TUNNEL_CLIENT_IP: "withhold" };
// The bytes of the first one are separators in templates/ingest.conf.
const [client, another] = ["124.124.124.124", "198.51.100.1"];
afterEach(closeHeld);

describe("stalled envelopes of one client", () => {
  const shared = useProxy(trusted, { spool: true });
  const post = { method: "POST", path: "/monitoring" };
  const large = (from: string) =>
    send(shared.proxy.port, { ...post, headers: { "x-forwarded-for": from }, body: Buffer.alloc(1 << 20) });

  test.each([
    ["of 999,999 bytes", 140, { size: 999_899 }],
    ["of 70 kB", 140, { size: 70_000 }],
    ["of 19 MB", 20, { size: 19 << 20 }],
    ["of 19 MB that do not say their length", 7, { size: 19 << 20, chunked: true }],
  ])("leave others their capacity: %s", async (_, count, how) => {
    // Until those of the test before have ended.
    const four = () => Promise.all(Array.from({ length: 4 }, async () => (await large(client)).status));
    await expect.poll(four).toEqual([200, 200, 200, 200]);
    const answers: string[] = [];
    for (let n = 0; n < count; n++)
      void stall(shared.proxy.port, { path: "/monitoring", client, ...how }).then(({ answer }) =>
        answer.then((line) => answers.push(line)),
      );
    // All but four, before their bodies have ended: also those above the rate limit.
    await expect.poll(() => answers.length).toBeGreaterThanOrEqual(count - 4);
    // A client that is still busy sending may be cut off before it reads the response.
    for (const line of answers) expect(line).toMatch(/^(HTTP\/1\.1 (503|429) |cut$)/);
    const body = '{"reason":"no capacity for this envelope now"}';
    expect(await large(client)).toMatchObject({ status: 503, body, headers: { "cache-control": "no-cache" } });
    expect((await large(another)).status).toBe(200);
    const small = { ...post, headers: { "x-forwarded-for": client }, body: Buffer.alloc(40_000) };
    expect((await send(shared.proxy.port, small)).status).toBe(200);
    const rejected = () => shared.proxy.metric('culvert_tunnel_envelopes_total{outcome="rejected",reason="capacity"}');
    await expect.poll(rejected).toBeGreaterThan(0);
    expect(await shared.proxy.log()).not.toContain(client);
  });
});

describe("large envelopes of many clients", () => {
  const shared = useProxy(trusted);
  test("leave pages their capacity, and browsers queue what exceeds it", async () => {
    let number = 0;
    const next = (size: number) =>
      stall(shared.proxy.port, { path: "/monitoring", client: `203.0.113.${++number}`, size });
    for (let n = 0; n < 6; n++) await next(19 << 20);
    const envelope = { method: "POST", path: "/monitoring", body: Buffer.alloc(1 << 20) };
    let status = 200;
    for (; status === 200; { status } = await send(shared.proxy.port, envelope)) await next(1 << 20);
    expect(status).toBe(503);
    const form = { method: "POST", path: "/form", body: Buffer.alloc(1 << 20) };
    expect((await send(shared.proxy.port, form)).status).toBe(200);
  });
});

describe("stalled bodies to web", () => {
  const shared = useProxy({ ...trusted, MAX_CONCURRENT_REQUESTS_PER_CLIENT: "100" });
  /** Bytes in /tmp: files of bodies have no name. */
  const used = async () => Number(await shared.proxy.inside("df --block-size=1 --output=used /tmp | tail -n 1"));

  test.each([
    ["of 900 kB", 900_000],
    ["of 5 kB", 5_000],
  ])(
    "of one client wait nowhere in /tmp, count towards their client's limit, and leave others theirs: %s",
    async (_, size) => {
      const before = await used();
      await Promise.all(Array.from({ length: 100 }, () => stall(shared.proxy.port, { path: "/form", client, size })));
      const headers = (from: string) => ({ "x-forwarded-for": from });
      const form = (from: string) =>
        send(shared.proxy.port, { method: "POST", path: "/form", body: Buffer.alloc(900_000), headers: headers(from) });
      // Nginx may not have read the last headers yet, or given up a body of which this process sent nothing for ten seconds.
      const onceMore = async () => {
        await stall(shared.proxy.port, { path: "/form", client, size });
        return (await form(client)).status;
      };
      await expect.poll(onceMore).toBe(429);
      expect((await used()) - before).toBeLessThan(1e6);
      expect((await form(another)).status).toBe(200);
    },
  );
});
