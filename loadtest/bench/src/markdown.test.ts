import { expect, test } from "vitest";
import { figure, goalResult, markdown } from "./markdown.ts";
import type { Sample } from "./measure.ts";

const sample = (perSecond: number): Sample => ({
  ...{ requests: 10, seconds: 1, failed: 0, p50: 1.234, p99: 20, perSecond, perCpuSecond: 2 * perSecond },
  ...{
    cpuSecondsPer1000: 0.05,
    arrivedPerSecond: 7,
    coresUsed: 0.5,
    lastContainerShare: 1,
    coresUsedByLoad: 0.25,
    otherWorkShare: 0,
  },
});

test("the median decides whether a goal is met; rounds that miss it are mentioned", () => {
  const ratio = { median: 0.9, low: 0.8, high: 1.1 };
  expect(goalResult({ text: "", ratio, goal: { atLeast: 0.7 } })).toBe("met");
  expect(goalResult({ text: "", ratio, goal: { atLeast: 0.85 } })).toBe("met, not in every round");
  expect(goalResult({ text: "", ratio, goal: { atLeast: 0.95 } })).toBe("missed");
  expect(goalResult({ text: "", ratio, goal: { atMost: 1 } })).toBe("met, not in every round");
  expect(goalResult({ text: "", ratio, goal: { atMost: 0.85 } })).toBe("missed");
  expect(goalResult({ text: "", ratio })).toBe("");
});

test("numbers keep three significant digits, large ones all digits", () => {
  expect([0.048_11, 1.05, 12.345, 99_999.4].map(figure)).toEqual(["0.0481", "1.05", "12.3", "99,999"]);
});

test("the tables list every contender with median and spread, and every ratio with its goal", () => {
  const claims = [{ text: "a / b", ratio: { median: 2, low: 1, high: 3 }, goal: { atLeast: 1.5 } }];
  const text = markdown({ title: "T", how: "H", samples: { a: [sample(100), sample(300), sample(200)] }, claims });
  expect(text).toContain("| a | 200 (100 – 300) | 400 (200 – 600) | 0.05 | 1.23 (1.23 – 1.23) |");
  expect(text).toContain("| a / b | 2 (1 – 3) | ≥ 1.5 | met, not in every round |");
  expect(
    new Set(
      text
        .split("\n")
        .filter((line) => line.startsWith("| "))
        .map((line) => line.split("|").length),
    ),
  ).toEqual(new Set([12, 6]));
});
