import assert from "node:assert/strict";
import { test } from "vitest";
import { Backoff } from "./backoff.ts";
import { DeferredEnvelopes } from "./deferred.ts";

const late = 3_600_000;

test.each([
  ["without", 0, [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]],
  ["with most", 1, [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]],
])("pauses double up to 10 s, %s randomness", (_, random, pauses) => {
  const backoff = new Backoff(100, () => random);
  let now = late;
  for (const pause of pauses) {
    assert.equal(backoff.failed(now, now, 0), pause);
    now += pause;
  }
});
test("attempts in flight together count as one failure", () => {
  const backoff = new Backoff(100, () => 0);
  backoff.failed(late, late + 10, 0);
  assert.equal(backoff.failed(late, late + 10, 0), 500);
});
test("one at a time until the ingest accepts one, while it fails, and after 10 s without a success", () => {
  const backoff = new Backoff(100, () => 0);
  assert.equal(backoff.concurrency(late), 1);
  backoff.succeeded(late);
  assert.ok(backoff.concurrency(late + 9_999) > 1);
  assert.equal(backoff.concurrency(late + 10_000), 1);
  // The ingest may ask for a longer pause.
  assert.equal(backoff.failed(late, late, 30_000), 30_000);
  assert.equal(backoff.concurrency(late), 1);
  backoff.succeeded(late);
  assert.ok(backoff.concurrency(late) > 1 && backoff.delayMs(late) === 0);
});

/** How many are sent within the second that begins at `from`. */
function sentWithinSecond(backoff: Backoff, from: number): number {
  let count = 0;
  for (let now = from; now < from + 1_000; now++) for (; backoff.delayMs(now) === 0; count++) backoff.sent(now);
  return count;
}
test("the rate is not exceeded, and a returning ingest gets a tenth of it at first", () => {
  const backoff = new Backoff(100);
  backoff.succeeded(late - 5_000);
  assert.ok(Math.abs(sentWithinSecond(backoff, late) - 100) <= 12);
  backoff.failed(late + 2_000, late + 2_000, 0);
  backoff.succeeded(late + 20_000);
  assert.ok(sentWithinSecond(backoff, late + 20_000) < 45);
  assert.ok(Math.abs(sentWithinSecond(backoff, late + 25_000) - 100) <= 12);
  // Another replica shares it now.
  backoff.rate = 50;
  assert.ok(Math.abs(sentWithinSecond(backoff, late + 26_000) - 50) <= 6);
});

test("an envelope that fails while others succeed is deferred longer each time, up to ten minutes", () => {
  const deferred = new DeferredEnvelopes();
  let now = 0;
  for (const seconds of [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]) {
    deferred.defer(1, 1_000, true, now);
    deferred.retry();
    assert.deepEqual(deferred.ids(now + seconds * 1_000 - 1), [1]);
    now += seconds * 1_000;
    assert.deepEqual(deferred.ids(now), []);
  }
});
test("in an outage, all others are tried before a failed envelope is tried again, and its end frees all", () => {
  const deferred = new DeferredEnvelopes();
  for (let round = 0; round < 20; round++) {
    for (const id of [1, 2, 3]) deferred.defer(id, 10_000, false, 0);
    assert.deepEqual(deferred.ids(9e9), [1, 2, 3]);
    assert.ok(deferred.retry());
    assert.deepEqual(deferred.ids(0), []);
  }
  assert.ok(!deferred.retry());
});
