import assert from "node:assert/strict";
import { test } from "vitest";
import { ageClock } from "./expiry.ts";

const day = 86_400_000;
const start = 1_000 * day;

function clocks() {
  const at = { wall: start, passed: 0 };
  const now = ageClock(
    () => at.wall,
    () => at.passed,
  );
  const pass = (time: number, set = 0) => {
    at.wall += time + set;
    at.passed += time;
    return now() - start;
  };
  return pass;
}

test("runs with the wall clock", () => {
  const pass = clocks();
  assert.equal(pass(10_000), 10_000);
  assert.equal(pass(day), day + 10_000);
});
test("a wall clock set forward by days expires nothing at once, and is caught up with over time", () => {
  const pass = clocks();
  assert.equal(pass(10_000, 4 * day), 20_000);
  assert.equal(pass(10_000), 40_000);
  assert.equal(pass(10_000, -4 * day), 30_000);
  assert.equal(pass(10_000, 4 * day), 50_000);
  assert.equal(pass(4 * day), 8 * day + 40_000);
});
test("a wall clock set back is followed: envelopes are kept longer", () => {
  const pass = clocks();
  assert.equal(pass(10_000, -3_600_000), 10_000 - 3_600_000);
  assert.equal(pass(10_000), 20_000 - 3_600_000);
});
