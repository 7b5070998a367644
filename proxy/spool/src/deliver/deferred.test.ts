import assert from "node:assert/strict";
import { test } from "vitest";
import { DeferredEnvelopes } from "./deferred.ts";

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
