import { expect, test, vi } from "vitest";
import { type Check, UNKNOWN } from "./check";
import { remembered } from "./remembered";

const good: Check = { state: "good", latencyMs: 1, problem: undefined };
const bad: Check = { state: "bad", latencyMs: 1, problem: "gone" };

test("a check runs once for many pages, and again when its answer is old", async () => {
  vi.useFakeTimers();
  const check = vi.fn(async () => good);
  const ask = remembered(check, 5_000);
  expect(await Promise.all([ask(), ask()])).toEqual([good, good]);
  expect(check).toHaveBeenCalledOnce();

  vi.advanceTimersByTime(5_000);
  check.mockResolvedValue(bad);
  expect(await ask()).toBe(good);
  expect(await ask()).toBe(bad);
  expect(check).toHaveBeenCalledTimes(2);
  vi.useRealTimers();
});

test("a check that hangs keeps nobody waiting", async () => {
  const ask = remembered(() => new Promise(() => {}), 5_000, 10);
  expect(await ask()).toBe(UNKNOWN);
  expect(await ask()).toBe(UNKNOWN);
});
