import { Agent } from "node:https";
import { afterEach, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { startProxy, type TestProxy } from "./proxy.ts";
import { useProxy } from "./use-proxy.ts";
import { type Response, send } from "./wire.ts";

const envelope = { method: "POST", path: "/monitoring", body: '{}\n{"type":"event"}\n{}\n' };

let proxy: TestProxy;
afterEach(() => proxy?.stop());

/** Sends this many envelopes, 50 at a time, every other one a CSP report; from the client IP that `client` returns, if given. */
async function flood(count: number, client?: (n: number) => string): Promise<Response[]> {
  const answers: Response[] = [];
  const agent = new Agent({ keepAlive: true });
  const worker = async () => {
    while (count-- > 0) {
      const headers = client && { "x-forwarded-for": client(count) };
      const csp = { path: "/monitoring/csp", headers: { ...headers, "content-type": "application/csp-report" } };
      answers.push(await send(proxy.port, { ...envelope, ...(count % 2 ? csp : { headers }) }, agent));
    }
  };
  await Promise.all(Array.from({ length: 50 }, worker));
  agent.destroy();
  return answers;
}

describe("envelopes above the rate limit", () => {
  test.each([
    ["one client's", () => "203.0.113.1"],
    // 40 times one client's, after a burst of 1,000.
    ["the total", (n: number) => `203.0.${n % 100}.1`],
  ])(
    "%s: 429 with rate limits for low-priority categories, not for errors, and never a bare 429",
    async (_, client) => {
      proxy = await startProxy({ TUNNEL_RATE_PER_CLIENT: "1", TRUSTED_PROXIES: "0.0.0.0/0" });
      const answers = await flood(1800, client);
      const rejected = answers.filter((answer) => answer.status !== 200);
      expect(rejected.length).toBeGreaterThan(0);
      const limits = "60:replay;profile;profile_chunk;transaction;span;session:key:culvert_rate_limit";
      for (const { status, headers } of rejected) {
        expect(status).toBe(429);
        expect(headers).toMatchObject({ "retry-after": "60", "x-sentry-rate-limits": limits });
      }
      // Accepted envelopes reached the ingest, rejected ones did not.
      expect(await proxy.ingest.count()).toBe(answers.length - rejected.length);
      expect((await send(proxy.port, { path: "/" })).status).toBe(200);
    },
  );
});

test("a client is an IPv4 address, however it is written, or an IPv6 /64", async () => {
  proxy = await startProxy({ TUNNEL_RATE_PER_CLIENT: "1", TRUSTED_PROXIES: "0.0.0.0/0" });
  const rejected = async (client: (n: number) => string) =>
    (await flood(240, client)).filter(({ status }) => status === 429).length;
  const hex = (n: number) => n.toString(16);
  expect(await rejected((n) => `2001:db8:1:1:${hex(n)}::1`)).toBeGreaterThan(0);
  expect(await rejected((n) => `2001:db8:2:${hex(n)}::1`)).toBe(0);
  expect(await rejected((n) => `203.0.113.${n}`)).toBe(0);
  expect(await rejected((n) => `::ffff:198.51.100.${n}`)).toBe(0);
});

describe.each(["forward", "truncate", "withhold"])("the client IP at the ingest with TUNNEL_CLIENT_IP=%s", (policy) => {
  const shared = useProxy({ TUNNEL_CLIENT_IP: policy, TRUSTED_PROXIES: "0.0.0.0/0" });
  const cases: Record<string, [string, string | undefined][]> = {
    forward: [
      ["203.0.113.77", "203.0.113.77"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"],
    ],
    truncate: [
      ["203.0.113.77", "203.0.113.0"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1::"],
      ["2001:db8::6", "2001:db8::"],
      ["2001::6", "2001::"],
      ["::1", undefined],
    ],
    withhold: [["203.0.113.77", undefined]],
  };
  test.each(cases[policy] ?? [])("%s is %s", async (client, expected) => {
    const mark = await shared.proxy.ingest.count();
    await send(shared.proxy.port, { ...envelope, headers: { "x-forwarded-for": client } });
    const [request] = await shared.proxy.ingest.all(mark);
    expect(request && headerOf(request, "x-forwarded-for")).toBe(expected);
    expect(request && headerOf(request, "x-sentry-forwarded-for")).toBe(expected);
    expect(request?.url).toMatch(/envelope/);
  });
});
