import { expect, test, vi } from "vitest";
import { remembered } from "./cached-check";
import { type Check, UNKNOWN } from "./check";

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

test("who asks for it waits for a check that is slow", async () => {
  vi.useFakeTimers();
  const ask = remembered(() => new Promise((resolve) => setTimeout(resolve, 2_900, good)));
  const [hasty, patient] = [ask(), ask(3_000)];
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await hasty).toBe(UNKNOWN);
  expect(await patient).toBe(good);
  vi.useRealTimers();
});

test("a check that hangs keeps nobody waiting", async () => {
  const ask = remembered(() => new Promise(() => {}));
  expect(await ask()).toBe(UNKNOWN);
  expect(await ask(10)).toBe(UNKNOWN);
});
