import assert from "node:assert/strict";
import { test } from "vitest";
import { Backoff } from "./backoff.ts";

const start = Date.now();
const late = start + 3_600_000;
const silent = { answered: false, wait: 0 };

test("pauses double up to 10 s, half of each at most left to chance", () => {
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
test("pauses end at 2 s while the ingest answers", () => {
  const backoff = new Backoff(100, () => 0);
  const pauses = Array.from({ length: 5 }, (_, i) => backoff.failed(late + i, late + i, { answered: true, wait: 0 }));
  assert.deepEqual(pauses, [500, 1_000, 2_000, 2_000, 2_000]);
});
test("those that left together count as one failure", () => {
  const backoff = new Backoff(100, () => 0);
  backoff.failed(late, late + 10, silent);
  assert.equal(backoff.failed(late, late + 10, silent), 500);
});
test("one at a time while it fails, and an ingest may ask for a longer pause", () => {
  const backoff = new Backoff(100, () => 0);
  backoff.succeeded(late);
  assert.ok(backoff.atOnce(late) > 1);
  assert.equal(backoff.failed(late, late, { answered: true, wait: 30_000 }), 30_000);
  assert.equal(backoff.atOnce(late), 1);
  backoff.succeeded(late);
  assert.ok(backoff.atOnce(late) > 1 && backoff.wait(late) === 0);
});
test("one at a time until it took one, and again when it took none for 10 s", () => {
  const backoff = new Backoff(100);
  assert.equal(backoff.atOnce(start), 1);
  backoff.succeeded(late);
  assert.ok(backoff.atOnce(late + 9_999) > 1);
  assert.equal(backoff.atOnce(late + 10_000), 1);
});

/** How many go within a second that begins at `from`. */
function goes(backoff: Backoff, from: number): number {
  let count = 0;
  for (let now = from; now < from + 1_000; now++) {
    while (backoff.wait(now) === 0) {
      backoff.sent(now);
      count++;
    }
  }
  return count;
}
test("the rate holds, and a returning ingest gets a tenth of it at first", () => {
  const backoff = new Backoff(100);
  backoff.succeeded(late - 5_000);
  assert.ok(Math.abs(goes(backoff, late) - 100) <= 12);
  backoff.failed(late + 2_000, late + 2_000, silent);
  backoff.succeeded(late + 20_000);
  assert.ok(goes(backoff, late + 20_000) < 45);
  assert.ok(Math.abs(goes(backoff, late + 25_000) - 100) <= 12);
});
