import { expect, test } from "vitest";
import { inTurn, median, percentile, ratio } from "./statistics.ts";

test("the median of an odd and of an even number of values, in any order; a percentile is one of the values", () => {
  expect([median([9, 1, 5]), median([10, 2, 4, 100])]).toEqual([5, 7]);
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect([percentile(values, 0.5), percentile(values, 0.99), percentile([7], 0.99)]).toEqual([100, 198, 7]);
});

test("ratios are computed round by round, so a slow round does not change them", () => {
  expect(ratio([100, 20, 80], [50, 10, 40])).toBe(2);
});

test("contenders take turns, in reverse order every second round", async () => {
  const order: string[] = [];
  const measure = (name: string) => async () => order.push(name);
  const samples = await inTurn(3, { a: measure("a"), b: measure("b"), c: measure("c") });
  expect(order.join("")).toBe("abccbaabc");
  expect(samples.b).toEqual([2, 5, 8]);
});
