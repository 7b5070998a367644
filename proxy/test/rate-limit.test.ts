import { Agent } from "node:https";
import { describe, expect, test } from "vitest";
import { trusting, useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

describe("envelopes above the rate limit", () => {
  const shared = useProxy({ ...trusting, TUNNEL_RATE_PER_CLIENT: "1" });
  const hex = (n: number) => n.toString(16);

  test.each<[string, number, boolean, (n: number) => string]>([
    ["an IPv6 /64", 240, true, (n) => `2001:db8:1:1:${hex(n)}::1`],
    ["240 of them", 240, false, (n) => `2001:db8:2:${hex(n)}::1`],
    ["240 IPv4 addresses", 240, false, (n) => `203.0.113.${n}`],
    ["240 IPv4 addresses, written as IPv6", 240, false, (n) => `::ffff:198.51.100.${n}`],
    // 40 times as many as one client's, after a burst of 1,000.
    ["all clients", 1_800, true, (n) => `203.0.${n % 100}.1`],
  ])("get 429 with limits for low-priority categories, not for errors: %s", async (_, count, areAbove, client) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 50 });
    const mark = await shared.proxy.ingest.count();
    const sent = Array.from({ length: count }, (_, n) => {
      const [path, type] = n % 2 ? ["/monitoring", "text/plain"] : ["/monitoring/csp", "application/csp-report"];
      const request = { method: "POST", path, client: client(n), headers: { "content-type": type }, body: "{}\n" };
      return send(shared.proxy.port, request, agent);
    });
    const answers = await Promise.all(sent);
    agent.destroy();
    const rejected = answers.filter(({ status }) => status !== 200);
    expect(rejected.length > 0).toBe(areAbove);
    expect(await shared.proxy.ingest.count()).toBe(mark + answers.length - rejected.length);
    // A 429 without limits would stop every category.
    const limits = "60:replay;profile;profile_chunk;transaction;span;session:key:culvert_rate_limit";
    const headers = { "retry-after": "60", "x-sentry-rate-limits": limits, "cache-control": "no-cache" };
    for (const answer of rejected) expect(answer).toMatchObject({ status: 429, headers });
    expect((await shared.through()).answer.status).toBe(200);
  });
});

describe.each([
  ["forward", { "203.0.113.77": "203.0.113.77", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2:3:4:5:6" }],
  [
    "truncate",
    {
      "203.0.113.77": "203.0.113.0",
      "2001:db8:1:2:3:4:5:6": "2001:db8:1::",
      "2001:db8::6": "2001:db8::",
      "2001::6": "2001::",
      "::1": undefined,
    },
  ],
  ["withhold", { "203.0.113.77": undefined }],
])("the client IP at the ingest with TUNNEL_CLIENT_IP=%s", (policy, cases) => {
  const shared = useProxy({ ...trusting, TUNNEL_CLIENT_IP: policy });
  test.each(Object.entries(cases))("%s is %s", async (client, expected) => {
    const { header } = await shared.post({ client });
    expect(["x-forwarded-for", "x-sentry-forwarded-for"].map(header)).toEqual([expected, expected]);
  });
});
