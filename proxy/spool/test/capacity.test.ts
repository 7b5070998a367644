import { afterAll, beforeAll, expect, test } from "vitest";
import { outcome } from "./support/arrivals.ts";
import { envelope, newId, send, sendMany } from "./support/envelopes.ts";
import { isEmpty, metric } from "./support/metrics.ts";
import { type Stack, startStack, waitUntilReady } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ SPOOL_RATE: "10000", SPOOL_MAX_MB: "8" });
});
afterAll(() => stack?.stop());

test("full: the lowest priority is evicted; exactly sent = delivered + dropped + rejected", async () => {
  await stack.ingest({ status: 503 });
  const replays = await sendMany(stack.url, 500, "replay_event", 20_000);
  expect(replays.length).toBeLessThan(500);
  const kept = [
    ...(await sendMany(stack.url, 50, "profile", 20_000)),
    ...(await sendMany(stack.url, 100, "event", 20_000)),
  ];
  expect(kept).toHaveLength(150);
  expect(await metric(stack, "disk_bytes")).toBeLessThanOrEqual(8 << 20);
  await stack.ingest();
  await waitUntil(() => isEmpty(stack), 600_000);
  expect(await outcome(stack, kept)).toEqual({ lost: 0, repeated: 0 });
  const { lost } = await outcome(stack, replays);
  expect(lost).toBeGreaterThan(0);
  expect(await metric(stack, 'dropped_total{reason="full",category="replay"}')).toBe(lost);
  expect(await metric(stack, 'delivered_total{category="replay"}')).toBe(replays.length - lost);
  expect(await metric(stack, 'rejected_total{status="503",reason="full",category="replay"}')).toBe(
    500 - replays.length,
  );
  expect(await stack.logs()).toContain("culvert spool: SPOOL_MAX_MB is reached: lower priorities are evicted");
});

test("expired: dropped and counted, not sent", async () => {
  await stack.replaceSpool("--env=SPOOL_MAX_AGE=2s");
  await waitUntilReady(stack);
  await stack.ingest({ status: 503 });
  const mark = await stack.recorder.count();
  await sendMany(stack.url, 50);
  await waitUntil(() => isEmpty(stack));
  expect(await metric(stack, 'dropped_total{reason="age",category="error"}')).toBe(50);
  await stack.ingest();
  const fresh = newId();
  await send(stack.url, envelope("session", fresh));
  await waitUntil(async () => (await outcome(stack, [fresh])).lost === 0);
  expect(await stack.recorder.count()).toBe(mark + 1);
});
