import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { envelope, hand, handMany, isEmpty, metric, newId, outcome, recorded } from "./report.ts";
import { type Stack, startStack, until } from "./stack.ts";

let stack: Stack;
afterEach(() => stack?.stop());

const drained = () => until(() => isEmpty(stack), 60_000);

test("an ingest that answers 503: tried one at a time, ever more rarely, then everything arrives by worth and age", async () => {
  stack = await startStack();
  await stack.ingest({ status: 503 });
  const url = await stack.url();
  const ids: string[] = [];
  for (const item of ["replay_event", "session", "transaction", "log", "feedback", "event", "profile_chunk"]) {
    ids.push(...(await handMany(url, 20, item, 0, 1)));
  }
  await pause(6_000);
  const tried = await stack.seen();
  expect(tried.length).toBeLessThan(10);
  await stack.ingest();
  await drained();
  expect(await outcome(stack, ids)).toEqual({ lost: 0, repeated: 0 });
  const worth = ["event", "feedback", "log", "session", "transaction", "profile_chunk", "replay_event"];
  const order = (await recorded(stack)).map(({ items }) => worth.indexOf(items[0]?.header.type ?? ""));
  // Those that were tried in the outage, and batches of 32, may be out of line; the rest is in order of worth.
  const inversions = order.filter((rank, i) => i > 0 && rank < (order[i - 1] ?? 0)).length;
  expect(inversions).toBeLessThan(10);
  expect(await metric(stack, 'delivered_total{category="error"}')).toBe(20);
});

test("a limit on replays: errors pass at once, replays when it is over", async () => {
  stack = await startStack();
  await stack.ingest({
    item: "replay_event",
    status: 429,
    headers: { "x-sentry-rate-limits": "6:replay:organization:quota", "retry-after": "6" },
  });
  const url = await stack.url();
  const replays = await handMany(url, 20, "replay_event");
  await until(async () => (await stack.seen()).length > 0);
  const errors = await handMany(url, 20);
  await until(async () => (await outcome(stack, errors)).lost === 0);
  // The replays are still held back: errors did not wait for them.
  expect((await outcome(stack, replays)).lost).toBe(replays.length);
  await stack.ingest();
  await drained();
  expect(await outcome(stack, [...replays, ...errors])).toEqual({ lost: 0, repeated: 0 });
  const refused = (await stack.seen()).filter(({ status }) => status === 429);
  const taken = (await stack.seen()).filter(({ item, status }) => item === "replay_event" && status === 200);
  expect(refused.length).toBeLessThanOrEqual(32);
  expect((taken[0]?.at ?? 0) - (refused[0]?.at ?? 0)).toBeGreaterThanOrEqual(5_900);
});

test("400 and 413 are final: dropped and counted, and hold up nobody", async () => {
  stack = await startStack();
  await stack.ingest({ item: "transaction", status: 400 }, { item: "replay_event", status: 413 });
  const url = await stack.url();
  await handMany(url, 10, "transaction");
  await handMany(url, 10, "replay_event");
  const errors = await handMany(url, 10);
  await drained();
  expect(await outcome(stack, errors)).toEqual({ lost: 0, repeated: 0 });
  expect(await metric(stack, 'dropped_total{reason="http_400",category="transaction"}')).toBe(10);
  expect(await metric(stack, 'dropped_total{reason="http_413",category="replay"}')).toBe(10);
  expect((await stack.seen()).length).toBe(30);
});

test("a slow ingest (5 s) gets each envelope once", async () => {
  stack = await startStack();
  await stack.ingest({ delay: 5_000 });
  const ids = await handMany(await stack.url(), 40);
  await drained();
  expect(await outcome(stack, ids)).toEqual({ lost: 0, repeated: 0 });
});

test("a flapping ingest loses nothing", async () => {
  stack = await startStack();
  const url = await stack.url();
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) {
    await stack.ingest(i % 2 ? { cut: "body" } : { status: 502 });
    ids.push(...(await handMany(url, 50, i % 2 ? "event" : "session")));
    await pause(1_500);
    await stack.ingest();
    await pause(1_500);
  }
  await drained();
  expect(await outcome(stack, ids)).toEqual({ lost: 0, repeated: 0 });
});

test("cut after it was taken: sent again, and counted as a possible repeat", async () => {
  stack = await startStack();
  await stack.ingest({ cut: "answer" });
  const ids = await handMany(await stack.url(), 5, "event", 0, 1);
  await until(async () => (await stack.recorder.count()) >= 1);
  await stack.ingest();
  await drained();
  const { lost, repeated } = await outcome(stack, ids);
  expect(lost).toBe(0);
  expect(repeated).toBeGreaterThan(0);
  expect(await metric(stack, 'repeated_total{category="error"}')).toBeGreaterThanOrEqual(repeated);
});

test("one that always makes the ingest stumble does not block the rest", async () => {
  stack = await startStack();
  await stack.ingest({ item: "feedback", cut: "body" });
  const url = await stack.url();
  const stumbling = newId();
  await hand(url, envelope("feedback", stumbling));
  const ids = await handMany(url, 200, "session");
  await until(async () => (await outcome(stack, ids)).lost === 0);
  expect(await metric(stack, 'waiting_envelopes{category="feedback"}')).toBe(1);
  await stack.ingest();
  await until(async () => (await outcome(stack, [stumbling])).lost === 0, 60_000);
});

test("SPOOL_RATE holds", async () => {
  stack = await startStack({ SPOOL_RATE: "50" });
  await stack.ingest({ status: 503 });
  const ids = await handMany(await stack.url(), 300);
  await stack.ingest();
  await drained();
  expect(await outcome(stack, ids)).toEqual({ lost: 0, repeated: 0 });
  const times = (await stack.seen()).filter(({ status }) => status === 200).map(({ at }) => at);
  const inOneSecond = times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length);
  expect(Math.max(...inOneSecond)).toBeLessThanOrEqual(75);
  expect(inOneSecond[0]).toBeLessThan(40);
});
