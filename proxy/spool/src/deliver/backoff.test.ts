import assert from "node:assert/strict";
import { test } from "vitest";
import { Backoff } from "./backoff.ts";

const start = Date.now();
const late = start + 3_600_000;
const silent = { responded: false, retryAfterMs: 0 };

test("pauses double up to 10 s, of which up to half is random", () => {
  for (const [random, pauses] of [
    [0, [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]],
    [1, [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]],
  ] as const) {
    const backoff = new Backoff(100, () => random);
    let now = late;
    for (const pause of pauses) {
      assert.equal(backoff.failed(now, now, silent), pause);
      now += pause;
    }
  }
});
test("pauses are at most 2 s while the ingest responds", () => {
  const backoff = new Backoff(100, () => 0);
  const pauses = Array.from({ length: 5 }, (_, i) =>
    backoff.failed(late + i, late + i, { responded: true, retryAfterMs: 0 }),
  );
  assert.deepEqual(pauses, [500, 1_000, 2_000, 2_000, 2_000]);
});
test("attempts in flight together count as one failure", () => {
  const backoff = new Backoff(100, () => 0);
  backoff.failed(late, late + 10, silent);
  assert.equal(backoff.failed(late, late + 10, silent), 500);
});
test("one at a time while the ingest fails, and it may ask for a longer pause", () => {
  const backoff = new Backoff(100, () => 0);
  backoff.succeeded(late);
  assert.ok(backoff.concurrency(late) > 1);
  assert.equal(backoff.failed(late, late, { responded: true, retryAfterMs: 30_000 }), 30_000);
  assert.equal(backoff.concurrency(late), 1);
  backoff.succeeded(late);
  assert.ok(backoff.concurrency(late) > 1 && backoff.delayMs(late) === 0);
});
test("one at a time until the ingest accepts one, and again after 10 s without a success", () => {
  const backoff = new Backoff(100);
  assert.equal(backoff.concurrency(start), 1);
  backoff.succeeded(late);
  assert.ok(backoff.concurrency(late + 9_999) > 1);
  assert.equal(backoff.concurrency(late + 10_000), 1);
});

/** How many are sent within the second that begins at `from`. */
function sentWithinSecond(backoff: Backoff, from: number): number {
  let count = 0;
  for (let now = from; now < from + 1_000; now++) {
    while (backoff.delayMs(now) === 0) {
      backoff.sent(now);
      count++;
    }
  }
  return count;
}
test("the rate is not exceeded, and a returning ingest gets a tenth of it at first", () => {
  const backoff = new Backoff(100);
  backoff.succeeded(late - 5_000);
  assert.ok(Math.abs(sentWithinSecond(backoff, late) - 100) <= 12);
  backoff.failed(late + 2_000, late + 2_000, silent);
  backoff.succeeded(late + 20_000);
  assert.ok(sentWithinSecond(backoff, late + 20_000) < 45);
  assert.ok(Math.abs(sentWithinSecond(backoff, late + 25_000) - 100) <= 12);
});
