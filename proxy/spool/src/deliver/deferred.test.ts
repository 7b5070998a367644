import assert from "node:assert/strict";
import { test } from "vitest";
import { DeferredEnvelopes } from "./deferred.ts";

test("an envelope that fails while others succeed is deferred longer each time, up to ten minutes", () => {
  const deferred = new DeferredEnvelopes();
  let now = 0;
  for (const seconds of [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]) {
    deferred.defer(1, 1_000, true, now);
    deferred.startNextRound();
    assert.deepEqual(deferred.ids(now + seconds * 1_000 - 1), [1]);
    now += seconds * 1_000;
    assert.deepEqual(deferred.ids(now), []);
  }
  deferred.ingestRecovered(now);
  deferred.defer(1, 1_000, true, now);
  deferred.startNextRound();
  deferred.ingestRecovered(now);
  assert.deepEqual(deferred.ids(now), [1]);
});
test("in an outage it is deferred without doubling, and the end of the outage frees it", () => {
  const deferred = new DeferredEnvelopes();
  for (let i = 0; i < 9; i++) deferred.defer(1, 1_000, i === 0, 0);
  deferred.startNextRound();
  assert.deepEqual([deferred.ids(1_999), deferred.ids(2_000)], [[1], []]);
  deferred.ingestRecovered(0);
  assert.deepEqual(deferred.ids(0), []);
});
test("all others are tried before a failed envelope is tried again", () => {
  const deferred = new DeferredEnvelopes();
  for (const id of [1, 2, 3]) {
    deferred.defer(id, 500, id === 1, id * 1_000);
  }
  assert.deepEqual(deferred.ids(9_000), [1, 2, 3]);
  assert.ok(deferred.startNextRound());
  assert.deepEqual(deferred.ids(9_000), []);
  assert.ok(!deferred.startNextRound());
});
test("envelopes that failed in an outage are freed one by one, the last within five seconds", () => {
  const deferred = new DeferredEnvelopes();
  for (let id = 1; id <= 20; id++) deferred.defer(id, 60_000, false, 0);
  deferred.startNextRound();
  deferred.ingestRecovered(0);
  assert.deepEqual(
    [0, 500, 4_500, 5_000].map((now) => 20 - deferred.ids(now).length),
    [1, 2, 10, 20],
  );
});
test("an envelope that left its queue is forgotten", () => {
  const deferred = new DeferredEnvelopes();
  deferred.defer(1, 1_000, true, 0);
  deferred.startNextRound();
  deferred.forget(1);
  assert.deepEqual(deferred.ids(0), []);
});
