import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Seen } from "./ingest/types.ts";
import { handMany, isEmpty, metric, outcome, recorded, repeatedEnvelopes } from "./report.ts";
import { type Stack, startStack, until } from "./stack.ts";

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

const drained = () => until(() => isEmpty(stack), 150_000);
const delivered = (ids: string[]) => until(async () => (await outcome(stack, ids)).lost === 0, 150_000);

/** What reaches the ingest from now on. */
async function watch(): Promise<() => Promise<Seen[]>> {
  const mark = (await stack.seen()).length;
  return () => stack.seen(mark);
}

test("an ingest that answers 503: tried one at a time, ever more rarely, then everything arrives by worth and age", async () => {
  const tries = await watch();
  await stack.ingest({ status: 503 });
  const ids: string[] = [];
  for (const item of ["replay_event", "session", "transaction", "log", "feedback", "event", "profile_chunk"]) {
    ids.push(...(await handMany(url, 20, item, 0, 1)));
  }
  await until(async () => (await tries()).length >= 4);
  const times = (await tries()).map(({ at }) => at);
  for (let i = 1; i < 4; i++) {
    // Half a second doubled each time, at most half of it left to chance; the ingest's clock begins a little later.
    expect((times[i] ?? 0) - (times[i - 1] ?? 0)).toBeGreaterThan(250 * 2 ** (i - 1) - 50);
  }
  const mark = await stack.recorder.count();
  await stack.ingest();
  await drained();
  expect(await outcome(stack, ids)).toMatchObject({ lost: 0, repeated: 0 });
  const worth = ["event", "feedback", "log", "session", "transaction", "profile_chunk", "replay_event"];
  const order = (await recorded(stack)).slice(mark).map(({ items }) => worth.indexOf(items[0]?.header.type ?? ""));
  expect(order).toHaveLength(ids.length);
  // Those that were tried in the outage, and the 32 that go at once, may be out of line; without an order it would be every other one.
  const inversions = order.filter((rank, i) => i > 0 && rank < (order[i - 1] ?? 0)).length;
  expect(inversions).toBeLessThan(ids.length / 4);
});

test("a limit on replays: errors pass at once, replays when it is over", async () => {
  const seen = await watch();
  await stack.ingest({
    item: "replay_event",
    status: 429,
    headers: { "x-sentry-rate-limits": "3:replay:organization:quota", "retry-after": "1" },
  });
  const replays = await handMany(url, 20, "replay_event");
  await until(async () => (await seen()).length > 0);
  const errors = await handMany(url, 20);
  await delivered(errors);
  // The replays are still held back: errors did not wait for them.
  expect((await outcome(stack, replays)).lost).toBe(replays.length);
  await stack.ingest();
  await delivered(replays);
  const refused = (await seen()).filter(({ status }) => status === 429);
  const taken = (await seen()).filter(({ item, status }) => item === "replay_event" && status === 200);
  expect(refused.length).toBeLessThanOrEqual(32);
  expect((taken[0]?.at ?? 0) - (refused[0]?.at ?? 0)).toBeGreaterThanOrEqual(2_900);
});

test("429 with Retry-After alone holds everything back for so long", async () => {
  const seen = await watch();
  await stack.ingest({ status: 429, headers: { "retry-after": "3" } });
  const first = await handMany(url, 1, "session");
  await until(async () => (await seen()).length === 1);
  await stack.ingest();
  await delivered([...first, ...(await handMany(url, 20))]);
  const [refused, taken] = await seen();
  expect((taken?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(2_900);
});

test("400 and 413 are final: dropped and counted, and hold up nobody", async () => {
  const seen = await watch();
  await stack.ingest({ item: "transaction", status: 400 }, { item: "replay_event", status: 413 });
  await handMany(url, 10, "transaction");
  await handMany(url, 10, "replay_event");
  await delivered(await handMany(url, 10));
  await drained();
  expect(await metric(stack, 'dropped_total{reason="http_400",category="transaction"}')).toBe(10);
  expect(await metric(stack, 'dropped_total{reason="http_413",category="replay"}')).toBe(10);
  expect(await seen()).toHaveLength(30);
});

test("a slow ingest (5 s) gets each envelope once", async () => {
  const seen = await watch();
  await stack.ingest({ delay: 5_000 });
  const ids = await handMany(url, 20);
  await delivered(ids);
  expect(await outcome(stack, ids)).toMatchObject({ lost: 0, repeated: 0 });
  expect(await seen()).toHaveLength(20);
});

test("a flapping ingest loses nothing", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) {
    const tries = await watch();
    await stack.ingest(i % 2 ? { item: "event", cut: "body" } : { status: 502 });
    ids.push(...(await handMany(url, 50, i % 2 ? "event" : "session")));
    await until(async () => (await tries()).length > 0);
    await stack.ingest();
    await until(async () => (await tries()).some(({ status }) => status === 200));
  }
  await delivered(ids);
  expect(await outcome(stack, ids)).toMatchObject({ lost: 0, repeated: 0 });
});

test("some that always make the ingest stumble, and are worth the most, do not block the rest", async () => {
  await stack.ingest({ item: "event", cut: "body" });
  const stumbling = await handMany(url, 3);
  await delivered(await handMany(url, 200, "session"));
  expect(await metric(stack, 'queued_envelopes{category="error"}')).toBe(3);
  await stack.ingest();
  await delivered(stumbling);
});

test("cut after it was taken: sent again, and counted as a possible repeat", async () => {
  const mark = await stack.recorder.count();
  await stack.ingest({ cut: "answer" });
  const ids = await handMany(url, 5, "log", 0, 1);
  await until(async () => (await stack.recorder.count()) > mark);
  await stack.ingest();
  await drained();
  const { lost, repeated } = await outcome(stack, ids);
  expect(lost).toBe(0);
  expect(repeated).toBeGreaterThan(0);
  expect(await metric(stack, 'redelivered_total{category="log_item"}')).toBeGreaterThanOrEqual(
    await repeatedEnvelopes(stack, ids),
  );
});
