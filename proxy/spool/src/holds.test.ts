import assert from "node:assert/strict";
import { test } from "vitest";
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
  holds.relax(now);
  holds.hold(1, 1_000, true, now);
  holds.relax(now);
  assert.deepEqual(holds.at(now), [1]);
});
test("in an outage it only lets another go first, and the end of the outage frees it", () => {
  const holds = new Holds();
  for (let i = 0; i < 9; i++) holds.hold(1, 1_000, i === 0, 0);
  assert.deepEqual([holds.at(1_999), holds.at(2_000)], [[1], []]);
  holds.relax(0);
  assert.deepEqual(holds.at(0), []);
});
test("however many fail, all others go before one of them again", () => {
  const holds = new Holds();
  for (const id of [1, 2, 3]) {
    holds.tried(id);
    holds.hold(id, 500, id === 1, id * 1_000);
  }
  assert.deepEqual(holds.at(9_000), [1, 2, 3]);
  assert.ok(holds.nextRound());
  assert.deepEqual(holds.at(9_000), []);
  assert.ok(!holds.nextRound());
});
test("those that failed in an outage are free one by one, the last within five seconds", () => {
  const holds = new Holds();
  for (let id = 1; id <= 20; id++) holds.hold(id, 60_000, false, 0);
  holds.relax(0);
  assert.deepEqual(
    [0, 500, 4_500, 5_000].map((now) => 20 - holds.at(now).length),
    [1, 2, 10, 20],
  );
});
test("a removed envelope is forgotten", () => {
  const holds = new Holds();
  holds.hold(1, 1_000, true, 0);
  holds.forget(1);
  assert.deepEqual(holds.at(0), []);
});
