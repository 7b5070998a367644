import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { outcome, recorded } from "./support/arrivals.ts";
import { envelope, newId, send, sendMany } from "./support/envelopes.ts";
import type { Seen } from "./support/ingest.ts";
import { isEmpty, metric } from "./support/metrics.ts";
import { type Stack, startStack, waitUntilReady } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

let stack: Stack;
let url: string;
beforeAll(async () => {
  stack = await startStack();
  url = stack.url;
});
afterEach(async () => {
  await stack.ingest();
  await drained();
});
afterAll(() => stack?.stop());

const drained = () => waitUntil(() => isEmpty(stack), 600_000);
const delivered = (ids: string[]) => waitUntil(async () => (await outcome(stack, ids)).lost === 0, 600_000);

/** Returns the requests that reach the ingest from now on. */
async function recordRequests(): Promise<() => Promise<Seen[]>> {
  const mark = (await stack.seen()).length;
  return () => stack.seen(mark);
}

test("an ingest that answers 503: one attempt at a time with backoff, then all arrive by priority, at SPOOL_RATE", async () => {
  const rate = 40;
  await stack.replaceSpool(`--env=SPOOL_RATE=${rate}`);
  await waitUntilReady(stack);
  const attempts = await recordRequests();
  await stack.ingest({ status: 503 });
  const ids: string[] = [];
  for (const item of ["replay_event", "session", "transaction", "log", "feedback", "event", "profile_chunk"]) {
    ids.push(...(await sendMany(url, 20, item, 0, 1)));
  }
  await waitUntil(async () => (await attempts()).length >= 4);
  const times = (await attempts()).map(({ at }) => at);
  for (let i = 1; i < 4; i++) {
    // Half a second, doubled each time, of which up to half is random; the ingest's clock starts a little later.
    expect((times[i] ?? 0) - (times[i - 1] ?? 0)).toBeGreaterThan(250 * 2 ** (i - 1) - 50);
  }
  const mark = await stack.recorder.count();
  await stack.ingest();
  await drained();
  expect(await outcome(stack, ids)).toMatchObject({ lost: 0, repeated: 0 });
  const priorities = ["event", "feedback", "log", "session", "transaction", "profile_chunk", "replay_event"];
  const order = (await recorded(stack)).slice(mark).map(({ items }) => priorities.indexOf(items[0]?.header.type ?? ""));
  expect(order).toHaveLength(ids.length);
  // Envelopes tried in the outage, and the 32 in flight, may be out of order; without any order it would be every other one.
  const inversions = order.filter((rank, i) => i > 0 && rank < (order[i - 1] ?? 0)).length;
  expect(inversions).toBeLessThan(ids.length / 4);
  const accepted = (await attempts()).filter(({ status }) => status === 200).map(({ at }) => at);
  // Longer than a second: the envelopes in flight while a container stalls, at most 32, arrive together.
  const inTwoSeconds = accepted.map((from) => accepted.filter((at) => at >= from && at < from + 2_000).length);
  expect(Math.max(...inTwoSeconds)).toBeLessThanOrEqual(2 * rate + 32);
  expect(inTwoSeconds[0], "it rises from a tenth").toBeLessThan(2 * rate);
  await stack.replaceSpool();
  await waitUntilReady(stack);
});

test("a rate limit on replays: errors are delivered at once, replays when it is over", async () => {
  const seen = await recordRequests();
  await stack.ingest({
    item: "replay_event",
    status: 429,
    headers: { "x-sentry-rate-limits": "3:replay:organization:quota", "retry-after": "1" },
  });
  const replays = await sendMany(url, 20, "replay_event");
  await waitUntil(async () => (await seen()).length > 0);
  const errors = await sendMany(url, 20);
  await delivered(errors);
  // The replays are still queued: errors did not wait for them.
  expect((await outcome(stack, replays)).lost).toBe(replays.length);
  await stack.ingest();
  await delivered(replays);
  const limited = (await seen()).filter(({ status }) => status === 429);
  const accepted = (await seen()).filter(({ item, status }) => item === "replay_event" && status === 200);
  expect(limited.length).toBeLessThanOrEqual(32);
  expect((accepted[0]?.at ?? 0) - (limited[0]?.at ?? 0)).toBeGreaterThanOrEqual(2_900);
});

test("envelopes that are large when decompressed delay no others of their priority", async () => {
  await stack.ingest({ status: 503 });
  const [large, small] = [Array.from({ length: 10 }, newId), Array.from({ length: 10 }, newId)];
  const gzip = { "content-encoding": "gzip" };
  for (const id of [...large, ...small]) {
    const body = gzipSync(envelope("event", id, large.includes(id) ? 4 << 20 : 0));
    expect((await send(url, body, gzip)).status).toBe(200);
  }
  const mark = await stack.recorder.count();
  await stack.ingest();
  await delivered([...large, ...small]);
  const order = (await recorded(stack)).slice(mark).map(({ header }) => header.event_id);
  // Those that were tried in the outage, and those in flight together, may be out of order.
  expect(order.slice(0, small.length + 4)).toEqual(expect.arrayContaining(small));
});

test("400 and 413 are final: dropped and counted, and delay no other envelope", async () => {
  const seen = await recordRequests();
  await stack.ingest({ item: "transaction", status: 400 }, { item: "replay_event", status: 413 });
  await sendMany(url, 10, "transaction");
  await sendMany(url, 10, "replay_event");
  await delivered(await sendMany(url, 10));
  await drained();
  expect(await metric(stack, 'dropped_total{reason="http_400",category="transaction"}')).toBe(10);
  expect(await metric(stack, 'dropped_total{reason="http_413",category="replay"}')).toBe(10);
  expect(await seen()).toHaveLength(30);
});

test("envelopes of the highest priority that always fail do not block the others", async () => {
  await stack.ingest({ item: "event", cut: "body" });
  const failing = await sendMany(url, 3);
  await delivered(await sendMany(url, 200, "session"));
  expect(await metric(stack, 'queued_envelopes{category="error"}')).toBe(3);
  await stack.ingest();
  await delivered(failing);
});

test("connection cut after the ingest accepted it: sent again, and counted as redelivered", async () => {
  const mark = await stack.recorder.count();
  await stack.ingest({ cut: "answer" });
  const ids = await sendMany(url, 5, "log", 0, 1);
  await waitUntil(async () => (await stack.recorder.count()) > mark);
  await stack.ingest();
  await drained();
  const { lost, repeated } = await outcome(stack, ids);
  expect(lost).toBe(0);
  expect(repeated).toBeGreaterThan(0);
  expect(await metric(stack, 'redelivered_total{category="log_item"}')).toBeGreaterThan(0);
});

test("with another DSN, envelopes for the old one are neither sent nor lost, and the spool says so", async () => {
  const logs = (line: string) => waitUntil(async () => (await stack.logs()).includes(line));
  await stack.ingest({ status: 503 });
  const old = await sendMany(url, 10);
  expect(await metric(stack, "undeliverable_envelopes")).toBe(0);

  await stack.replaceSpool("--env=SENTRY_DSN=http://key@ingest:9000/8");
  await waitUntilReady(stack);
  await stack.ingest();
  const mine = newId();
  await send(url, envelope("session", mine), { "x-spool-destination": "http://ingest:9000/api/8/envelope/" });
  // A lower priority than the envelopes for the old DSN: if those could be sent, they would be sent first.
  await waitUntil(async () => (await outcome(stack, [mine])).lost === 0);
  expect((await outcome(stack, old)).lost).toBe(10);
  expect(await metric(stack, "undeliverable_envelopes")).toBe(10);
  await logs("10 envelopes are queued for an ingest that is in no configured DSN");
  // A proxy that still has the old DSN.
  expect((await send(url, envelope())).status).toBe(403);
  await logs("rejected envelopes for a DSN that this spool does not have");

  await stack.replaceSpool();
  await waitUntil(() => isEmpty(stack));
  expect(await outcome(stack, old)).toEqual({ lost: 0, repeated: 0 });
});
