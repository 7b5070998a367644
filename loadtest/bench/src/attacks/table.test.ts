import { expect, test } from "vitest";
import { type Row, table } from "./table.ts";

const honest = (p50: number, p99: number, failed = 0) => {
  const probe = { requests: 100, failed, p50, p99 };
  return { page: probe, file: probe, form: probe, envelope: probe };
};
const row = (during: Row["during"], maxCostMs?: number): Row => ({
  ...{ title: "an attack", before: honest(10, 40), during, after: honest(11, 50), memoryMb: 123, maxCostMs },
});
const cells = (one: Row) => table([one]).split("\n").at(-1)?.split(" | ");

test("a row has the figures before, during and after", () => {
  expect(cells(row(honest(19, 900)))).toEqual([
    ...["| an attack", "10 / 19 / 11", ...Array(4).fill("40 / 900 / 50"), "0 / 0 / 0", "123", "yes |"],
  ]);
});

test.each([
  ["pages take 1.2 s longer", row(honest(1_211, 5_000))],
  ["pages take longer than this attack may make them", row(honest(311, 1_000), 300)],
  ["one gets no answer", row(honest(15, 100, 1))],
  ["none gets one", row(honest(Number.NaN, Number.NaN, 100))],
])("the promise is not held if %s", (_, one) => {
  expect(cells(one)?.at(-1)).toBe("**no** |");
});

test("requests without their answer are counted over all kinds", () => {
  expect(cells(row(honest(Number.NaN, Number.NaN, 25)))).toContain("0 / 100 of 400 / 0");
  expect(cells(row(honest(Number.NaN, Number.NaN, 25)))).toContain("10 / – / 11");
});
