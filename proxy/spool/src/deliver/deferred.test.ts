import assert from "node:assert/strict";
import { test } from "vitest";
import { DeferredEnvelopes } from "./deferred.ts";

test("an envelope that fails while others pass waits longer each time, ten minutes at most", () => {
  const deferred = new DeferredEnvelopes();
  let now = 0;
  for (const seconds of [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]) {
    deferred.hold(1, 1_000, true, now);
    assert.deepEqual(deferred.at(now + seconds * 1_000 - 1), [1]);
    now += seconds * 1_000;
    assert.deepEqual(deferred.at(now), []);
  }
  deferred.relax(now);
  deferred.hold(1, 1_000, true, now);
  deferred.relax(now);
  assert.deepEqual(deferred.at(now), [1]);
});
test("in an outage it only lets another go first, and the end of the outage frees it", () => {
  const deferred = new DeferredEnvelopes();
  for (let i = 0; i < 9; i++) deferred.hold(1, 1_000, i === 0, 0);
  assert.deepEqual([deferred.at(1_999), deferred.at(2_000)], [[1], []]);
  deferred.relax(0);
  assert.deepEqual(deferred.at(0), []);
});
test("however many fail, all others go before one of them again", () => {
  const deferred = new DeferredEnvelopes();
  for (const id of [1, 2, 3]) {
    deferred.tried(id);
    deferred.hold(id, 500, id === 1, id * 1_000);
  }
  assert.deepEqual(deferred.at(9_000), [1, 2, 3]);
  assert.ok(deferred.nextRound());
  assert.deepEqual(deferred.at(9_000), []);
  assert.ok(!deferred.nextRound());
});
test("those that failed in an outage are free one by one, the last within five seconds", () => {
  const deferred = new DeferredEnvelopes();
  for (let id = 1; id <= 20; id++) deferred.hold(id, 60_000, false, 0);
  deferred.relax(0);
  assert.deepEqual(
    [0, 500, 4_500, 5_000].map((now) => 20 - deferred.at(now).length),
    [1, 2, 10, 20],
  );
});
test("a removed envelope is forgotten", () => {
  const deferred = new DeferredEnvelopes();
  deferred.hold(1, 1_000, true, 0);
  deferred.forget(1);
  assert.deepEqual(deferred.at(0), []);
});
