import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { startProxy, type TestProxy } from "./proxy.ts";
import { send } from "./wire.ts";

let proxy: TestProxy;
beforeEach(async () => {
  // All envelopes come from one client.
  proxy = await startProxy({ TUNNEL_RATE_PER_CLIENT: "10000" }, { spool: true });
});
afterEach(() => proxy?.stop());

const eventId = (n: number) => n.toString(16).padStart(32, "0");
const post = (n: number) =>
  send(proxy.port, {
    method: "POST",
    path: "/monitoring",
    body: `{"event_id":"${eventId(n)}"}\n{"type":"event"}\n{"message":"${n}"}\n`,
  });
const well: Answer = { status: 200, headers: {}, body: "{}" };
const bodies = async () => (await proxy.ingest.all()).map((request) => Buffer.from(request.body, "base64").toString());

describe("an envelope that the ingest cannot accept is queued, acknowledged, and delivered later", () => {
  test.each<[string, Partial<Answer>]>([
    ["500", { status: 500 }],
    ["503", { status: 503, headers: { "retry-after": "1" } }],
    ["a cut connection", { instead: "reset" }],
  ])("%s", async (_, fault) => {
    await proxy.ingest.answer({ ...well, ...fault });
    const answer = await post(7);
    expect(answer).toMatchObject({ status: 200, body: `{"id":"${eventId(7)}"}` });
    expect(answer.headers["retry-after"]).toBeUndefined();
    const mark = await proxy.ingest.count();
    await proxy.ingest.answer(well);
    await proxy.ingest.waitFor(
      (request) => (request.url === "/prefix/api/7/envelope/" ? request : undefined),
      mark,
      50_000,
    );
    expect((await bodies()).at(-1)).toContain(`"message":"7"`);
  });

  test("an ingest that is gone, and the spool killed meanwhile", async () => {
    await proxy.ingest.answer({ ...well, instead: "reset" });
    for (let n = 0; n < 10; n++) expect((await post(n)).status).toBe(200);
    await proxy.on("spool", "kill", "--signal=KILL");
    // Meanwhile browsers are told to queue their envelopes.
    expect((await post(99)).status).toBe(503);
    const metrics = await proxy.on("proxy", "exec", "curl", "-sS", "http://127.0.0.1:8081/metrics");
    expect(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="failed",reason="unreachable"\} 1$/m);
    await proxy.ingest.answer(well);
    const mark = await proxy.ingest.count();
    await proxy.on("spool", "start");
    const seen = new Set<string>();
    await proxy.ingest.waitFor(
      (request) => {
        seen.add(
          Buffer.from(request.body, "base64")
            .toString()
            .match(/"message":"(\d+)"/)?.[1] ?? "",
        );
        return seen.size >= 10 ? true : undefined;
      },
      mark,
      50_000,
    );
    for (let n = 0; n < 10; n++) expect(seen).toContain(String(n));
  });

  test("an ingest that fails every time gets probes, not every envelope", async () => {
    await proxy.ingest.answer({ ...well, instead: "reset" });
    const sendInTurn = async () => {
      for (let n = 0; n < 30; n++) {
        expect((await post(n)).status).toBe(200);
        // A rejection by the proxy says nothing about the ingest.
        expect((await send(proxy.port, { path: "/monitoring" })).status).toBe(405);
      }
    };
    await Promise.all(Array.from({ length: 10 }, sendInTurn));
    expect(await proxy.ingest.count()).toBeLessThan(250);
    const metrics = await proxy.on("proxy", "exec", "curl", "-sS", "http://127.0.0.1:8081/metrics");
    expect(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="queued",reason="unreachable"\} 300$/m);
    expect(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="rejected",reason="method"\} 300$/m);
  });
});

// 590 and 591 are words of the proxy's own (snippets/rate-limit-zones.conf): said by the ingest they mean no more than the others.
test("every 5xx is queued, those of a CDN before the ingest and unknown ones included", async () => {
  for (const status of [501, 507, 511, 525, 526, 529, 590, 591, 599]) {
    await proxy.ingest.answer({ ...well, status, headers: { "retry-after": "600" } });
    const answer = await post(status);
    expect([status, answer.status, answer.body]).toEqual([status, 200, `{"id":"${eventId(status)}"}`]);
    expect(answer.headers["retry-after"]).toBeUndefined();
    // An ingest that responds gets the next one.
    await proxy.ingest.answer(well);
    expect(await post(1)).toMatchObject({ status: 200, body: "{}" });
  }
});

describe("other responses of the ingest pass unchanged", () => {
  test.each([400, 403, 413, 429])("%i", async (status) => {
    await proxy.ingest.answer({
      status,
      headers: { "x-sentry-rate-limits": "5:replay:organization" },
      body: "the ingest's own",
    });
    const answer = await post(1);
    expect(answer).toMatchObject({ status, body: "the ingest's own" });
    expect(answer.headers["x-sentry-rate-limits"]).toBe("5:replay:organization");
  });
});

test("without a spool the browser gets 503", async () => {
  await proxy.on("spool", "stop", "-t", "0");
  await proxy.ingest.answer({ ...well, status: 500 });
  const answer = await post(1);
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body).reason).toBe("the ingest cannot be reached now");
  expect(answer.headers["retry-after"]).toBeUndefined();
});
