import { afterEach, expect, test } from "vitest";
import { outcome } from "./support/arrivals.ts";
import { envelope, newId, send, sendMany } from "./support/envelopes.ts";
import { isEmpty, metric } from "./support/metrics.ts";
import { type Stack, startStack } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

const fast = { SPOOL_RATE: "10000" };

let stack: Stack;
afterEach(() => stack?.stop());

test("full: replays are evicted first, then profiles, nothing else; exactly sent = delivered + dropped + rejected", async () => {
  stack = await startStack({ ...fast, SPOOL_MAX_MB: "8" });
  await stack.ingest({ status: 503 });
  const url = stack.url;
  const profiles = await sendMany(url, 50, "profile", 20_000);
  const kept = [
    ...(await sendMany(url, 20, "transaction", 2_000)),
    ...(await sendMany(url, 20, "session", 2_000)),
    ...(await sendMany(url, 20, "log", 2_000)),
    ...(await sendMany(url, 20, "feedback", 2_000)),
  ];
  expect([profiles.length, kept.length]).toEqual([50, 80]);
  const replays = await sendMany(url, 500, "replay_event", 20_000);
  expect(replays.length).toBeLessThan(500);
  kept.push(...(await sendMany(url, replays.length - 10, "event", 20_000)));
  expect(await evicted("profile")).toBe(0);
  kept.push(...(await sendMany(url, 30, "event", 20_000)));
  expect(kept).toHaveLength(80 + replays.length + 20);
  expect(await metric(stack, "disk_bytes")).toBeLessThanOrEqual(8 << 20);
  await stack.ingest();
  await waitUntil(() => isEmpty(stack), 600_000);
  expect(await outcome(stack, kept)).toEqual({ lost: 0, repeated: 0 });
  for (const [category, ids] of [
    ["replay", replays],
    ["profile", profiles],
  ] as const) {
    const { lost } = await outcome(stack, ids);
    expect(lost).toBeGreaterThan(0);
    expect(await evicted(category)).toBe(lost);
    expect(await metric(stack, `delivered_total{category="${category}"}`)).toBe(ids.length - lost);
  }
  expect(await metric(stack, 'rejected_total{status="503",reason="full",category="replay"}')).toBe(
    500 - replays.length,
  );
});

const evicted = (category: string) => metric(stack, `dropped_total{reason="full",category="${category}"}`);

test("expired: dropped and counted, not sent", async () => {
  stack = await startStack({ SPOOL_MAX_AGE: "2s" });
  await stack.ingest({ status: 503 });
  await sendMany(stack.url, 50);
  await waitUntil(() => isEmpty(stack));
  expect(await metric(stack, 'dropped_total{reason="age",category="error"}')).toBe(50);
  await stack.ingest();
  const fresh = newId();
  await send(stack.url, envelope("session", fresh));
  await waitUntil(async () => (await outcome(stack, [fresh])).lost === 0);
  expect(await stack.recorder.count()).toBe(1);
});
