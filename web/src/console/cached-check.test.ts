import { expect, test, vi } from "vitest";
import { cachedCheck } from "./cached-check";
import { type Check, UNKNOWN } from "./check";

const good: Check = { state: "good", latencyMs: 1, problem: undefined };
const bad: Check = { state: "bad", latencyMs: 1, problem: "gone" };

test("a check runs once for many pages, and again when its result is old", async () => {
  vi.useFakeTimers();
  const check = vi.fn(async () => good);
  const ask = cachedCheck(check, 5_000);
  expect(await Promise.all([ask(), ask()])).toEqual([good, good]);
  expect(check).toHaveBeenCalledOnce();

  vi.advanceTimersByTime(5_000);
  check.mockResolvedValue(bad);
  expect(await ask()).toBe(good);
  expect(await ask()).toBe(bad);
  expect(check).toHaveBeenCalledTimes(2);
  vi.useRealTimers();
});

test("a caller may wait longer for a slow check", async () => {
  vi.useFakeTimers();
  const ask = cachedCheck(() => new Promise<Check>((resolve) => setTimeout(resolve, 2_900, good)));
  const [short, long] = [ask(), ask(3_000)];
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await short).toBe(UNKNOWN);
  expect(await long).toBe(good);
  vi.useRealTimers();
});

test("a check that hangs does not block its callers", async () => {
  const ask = cachedCheck(() => new Promise<Check>(() => {}));
  expect(await ask()).toBe(UNKNOWN);
  expect(await ask(10)).toBe(UNKNOWN);
});
