import assert from "node:assert/strict";
import { test } from "vitest";
import { ageClock } from "./expiry.ts";

test("ages follow the wall clock, but one that is set forward by days expires nothing at once", () => {
  const day = 86_400_000;
  const at = { wall: 1_000 * day, passed: 0 };
  const now = ageClock(
    () => at.wall,
    () => at.passed,
  );
  const pass = (time: number, set = 0) => {
    at.wall += time + set;
    at.passed += time;
    return now() - 1_000 * day;
  };
  assert.equal(pass(10_000), 10_000);
  assert.equal(pass(10_000, 4 * day), 30_000);
  assert.equal(pass(10_000, -4 * day), 30_000);
  assert.equal(pass(10_000, -3_600_000), 40_000 - 3_600_000);
});
