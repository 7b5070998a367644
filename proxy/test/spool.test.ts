import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { type Edge, startEdge } from "./edge.ts";
import { send } from "./wire.ts";

let edge: Edge;
beforeEach(async () => {
  // All reports come from one visitor.
  edge = await startEdge({ TUNNEL_RATE_PER_CLIENT: "10000" }, { spool: true });
});
afterEach(() => edge?.stop());

const eventId = (n: number) => n.toString(16).padStart(32, "0");
const report = (n: number) =>
  send(edge.port, {
    method: "POST",
    path: "/monitoring",
    body: `{"event_id":"${eventId(n)}"}\n{"type":"event"}\n{"message":"${n}"}\n`,
  });
const well: Answer = { status: 200, headers: {}, body: "{}" };
const bodies = async () => (await edge.ingest.all()).map((request) => Buffer.from(request.body, "base64").toString());

describe("a report that the ingest can't take is kept, acknowledged, and delivered when it can", () => {
  test.each<[string, Partial<Answer>]>([
    ["500", { status: 500 }],
    ["503", { status: 503, headers: { "retry-after": "1" } }],
    ["a cut connection", { instead: "reset" }],
  ])("%s", async (_, trouble) => {
    await edge.ingest.answer({ ...well, ...trouble });
    const answer = await report(7);
    expect(answer).toMatchObject({ status: 200, body: `{"id":"${eventId(7)}"}` });
    expect(answer.headers["retry-after"]).toBeUndefined();
    const mark = await edge.ingest.count();
    await edge.ingest.answer(well);
    await edge.ingest.waitFor(
      (request) => (request.url === "/prefix/api/7/envelope/" ? request : undefined),
      mark,
      50_000,
    );
    expect((await bodies()).at(-1)).toContain(`"message":"7"`);
  });

  test("an ingest that is gone, and the spool killed in the middle", async () => {
    await edge.ingest.answer({ ...well, instead: "reset" });
    for (let n = 0; n < 10; n++) expect((await report(n)).status).toBe(200);
    await edge.on("spool", "kill", "--signal=KILL");
    // Meanwhile the browser is told to keep its reports.
    expect((await report(99)).status).toBe(503);
    const metrics = await edge.on("proxy", "exec", "curl", "-sS", "http://127.0.0.1:8081/metrics");
    expect(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="failed",reason="unreachable"\} 1$/m);
    await edge.ingest.answer(well);
    const mark = await edge.ingest.count();
    await edge.on("spool", "start");
    const seen = new Set<string>();
    await edge.ingest.waitFor(
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

  test("an ingest that fails every time is asked now and then, not by each report", async () => {
    await edge.ingest.answer({ ...well, instead: "reset" });
    const lane = async () => {
      for (let n = 0; n < 30; n++) {
        expect((await report(n)).status).toBe(200);
        // A refusal of the edge's own says nothing about the ingest.
        expect((await send(edge.port, { path: "/monitoring" })).status).toBe(405);
      }
    };
    await Promise.all(Array.from({ length: 10 }, lane));
    expect(await edge.ingest.count()).toBeLessThan(250);
    const metrics = await edge.on("proxy", "exec", "curl", "-sS", "http://127.0.0.1:8081/metrics");
    expect(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="queued",reason="unreachable"\} 300$/m);
    expect(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="rejected",reason="method"\} 300$/m);
  });
});

// 590 and 591 are words of the edge's own (snippets/rate-limit-zones.conf): said by the ingest they mean no more than the others.
test("every 5xx is kept, those of a CDN before the ingest and those no one knows included", async () => {
  for (const status of [501, 507, 511, 525, 526, 529, 590, 591, 599]) {
    await edge.ingest.answer({ ...well, status, headers: { "retry-after": "600" } });
    const answer = await report(status);
    expect([status, answer.status, answer.body]).toEqual([status, 200, `{"id":"${eventId(status)}"}`]);
    expect(answer.headers["retry-after"]).toBeUndefined();
    // One that answers is asked again by the next.
    await edge.ingest.answer(well);
    expect(await report(1)).toMatchObject({ status: 200, body: "{}" });
  }
});

describe("what the ingest answers itself passes as it is", () => {
  test.each([400, 403, 413, 429])("%i", async (status) => {
    await edge.ingest.answer({
      status,
      headers: { "x-sentry-rate-limits": "5:replay:organization" },
      body: "its own word",
    });
    const answer = await report(1);
    expect(answer).toMatchObject({ status, body: "its own word" });
    expect(answer.headers["x-sentry-rate-limits"]).toBe("5:replay:organization");
  });
});

test("a spool that is not there leaves the browser's 503", async () => {
  await edge.on("spool", "stop", "-t", "0");
  await edge.ingest.answer({ ...well, status: 500 });
  const answer = await report(1);
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body).reason).toBe("the ingest cannot be reached now");
  expect(answer.headers["retry-after"]).toBeUndefined();
});
