import assert from "node:assert/strict";
import { test } from "node:test";
import { Holds } from "./holds.ts";

test("an envelope that fails while others pass waits longer each time, ten minutes at most", () => {
  const holds = new Holds();
  let now = 0;
  for (const seconds of [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]) {
    holds.hold(1, 1_000, true, now);
    assert.deepEqual(holds.at(now + seconds * 1_000 - 1), [1]);
    now += seconds * 1_000;
    assert.deepEqual(holds.at(now), []);
  }
  holds.relax();
  holds.hold(1, 1_000, true, now);
  holds.relax();
  assert.deepEqual(holds.at(now), [1]);
});
test("in an outage it only lets another go first, and the end of the outage frees it", () => {
  const holds = new Holds();
  for (let i = 0; i < 9; i++) holds.hold(1, 1_000, i === 0, 0);
  assert.deepEqual([holds.at(1_999), holds.at(2_000)], [[1], []]);
  holds.relax();
  assert.deepEqual(holds.at(0), []);
});
test("a removed envelope is forgotten", () => {
  const holds = new Holds();
  holds.hold(1, 1_000, true, 0);
  holds.forget(1);
  assert.deepEqual(holds.at(0), []);
});
