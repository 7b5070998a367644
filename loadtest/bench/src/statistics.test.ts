import { expect, test } from "vitest";
import { inTurn, percentile, ratio, spread } from "./statistics.ts";

test("the median of an odd and of an even number of values, in any order", () => {
  expect(spread([9, 1, 5])).toEqual({ median: 5, low: 1, high: 9 });
  expect(spread([10, 2, 4, 100])).toEqual({ median: 7, low: 2, high: 100 });
  expect(() => spread([])).toThrow();
});

test("a percentile is one of the values, by nearest rank", () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect([percentile(values, 0.5), percentile(values, 0.99), percentile([7], 0.99)]).toEqual([100, 198, 7]);
});

test("ratios are computed round by round, so a slow round does not change them", () => {
  expect(ratio([100, 20, 80], [50, 10, 40])).toEqual({ median: 2, low: 2, high: 2 });
  expect(() => ratio([1, 2], [1])).toThrow("do not pair up");
});

test("contenders take turns, in reverse order every second round", async () => {
  const order: string[] = [];
  const measure = (name: string) => async (round: number) => {
    order.push(name);
    return round;
  };
  const samples = await inTurn(3, { a: measure("a"), b: measure("b"), c: measure("c") });
  expect(order.join("")).toBe("abccbaabc");
  expect(samples.b).toEqual([0, 1, 2]);
});
