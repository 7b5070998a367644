import { afterEach, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { type Edge, startEdge } from "./edge.ts";
import { type Response, send } from "./wire.ts";

const report = { method: "POST", path: "/monitoring", body: '{}\n{"type":"event"}\n{}\n' };

let edge: Edge;
afterEach(() => edge?.stop());

/** Sends this many reports, 50 at a time, every other one a CSP report; from the address that `client` says, if any. */
async function flood(count: number, client?: (n: number) => string): Promise<Response[]> {
  const answers: Response[] = [];
  const worker = async () => {
    while (count-- > 0) {
      const headers = client && { "x-forwarded-for": client(count) };
      const csp = { path: "/monitoring/csp", headers: { ...headers, "content-type": "application/csp-report" } };
      answers.push(await send(edge.port, { ...report, ...(count % 2 ? csp : { headers }) }));
    }
  };
  await Promise.all(Array.from({ length: 50 }, worker));
  return answers;
}

describe("a flood of reports", () => {
  test.each([
    ["one visitor's", { TUNNEL_RATE_PER_CLIENT: "1" }],
    ["everyone's", { TUNNEL_RATE_TOTAL: "1", TUNNEL_RATE_PER_CLIENT: "10000" }],
  ])(
    "beyond %s limit gets 429 that silences what can be missed, errors last, and never a bare one",
    async (_, settings) => {
      edge = await startEdge(settings);
      const answers = await flood(1600);
      const refused = answers.filter((answer) => answer.status !== 200);
      expect(refused.length).toBeGreaterThan(0);
      const limits = new Set(refused.map((answer) => answer.headers["x-sentry-rate-limits"]));
      for (const answer of refused) {
        expect(answer.status).toBe(429);
        expect(answer.headers["retry-after"]).toBe("60");
      }
      const first = "60:replay;profile;profile_chunk;transaction;span;session:key:culvert_rate_limit";
      expect(refused[0]?.headers["x-sentry-rate-limits"]).toBe(first);
      expect([...limits].sort()).toEqual(["60::key:culvert_rate_limit", first]);
      // What was let through reached the ingest, what was refused did not.
      expect(await edge.ingest.count()).toBe(answers.length - refused.length);
      expect((await send(edge.port, { path: "/" })).status).toBe(200);
    },
  );
});

test("a visitor of IPv6 is a network of his, one of IPv4 an address, however it is written", async () => {
  edge = await startEdge({ TUNNEL_RATE_PER_CLIENT: "1", TRUSTED_PROXIES: "0.0.0.0/0" });
  const refused = async (client: (n: number) => string) =>
    (await flood(240, client)).filter(({ status }) => status === 429).length;
  const hex = (n: number) => n.toString(16);
  expect(await refused((n) => `2001:db8:1:1:${hex(n)}::1`)).toBeGreaterThan(0);
  expect(await refused((n) => `2001:db8:2:${hex(n)}::1`)).toBe(0);
  expect(await refused((n) => `203.0.113.${n}`)).toBe(0);
  expect(await refused((n) => `::ffff:198.51.100.${n}`)).toBe(0);
});

describe("a visitor's address at the ingest", () => {
  const asked = async (settings: Record<string, string>, client: string) => {
    edge = await startEdge({ ...settings, TRUSTED_PROXIES: "0.0.0.0/0" });
    await send(edge.port, { ...report, headers: { "x-forwarded-for": client } });
    const [request] = await edge.ingest.all();
    const address = request && headerOf(request, "x-forwarded-for");
    expect(request && headerOf(request, "x-sentry-forwarded-for")).toBe(address);
    return address;
  };
  test.each([
    ["forward", "203.0.113.77", "203.0.113.77"],
    ["forward", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"],
    ["truncate", "203.0.113.77", "203.0.113.0"],
    ["truncate", "2001:db8:1:2:3:4:5:6", "2001:db8:1::"],
    ["truncate", "2001:db8::6", "2001:db8::"],
    ["truncate", "2001::6", "2001::"],
    ["truncate", "::1", undefined],
    ["withhold", "203.0.113.77", undefined],
  ])("%s: %s is %s", async (policy, client, expected) => {
    expect(await asked({ TUNNEL_CLIENT_IP: policy }, client)).toBe(expected);
  });
});
