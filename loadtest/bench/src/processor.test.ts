import { expect, test } from "vitest";
import { assignCores, describeCores, parseMachineTime, parseProcessorTime } from "./processor.ts";

test("processor time in both versions of cgroups", () => {
  expect(parseProcessorTime("usage_usec 2500000")).toBe(2.5);
  expect(parseProcessorTime("2500000000")).toBe(2.5);
  expect(() => parseProcessorTime("cat: no such file")).toThrow("no processor time");
});

test("the machine's work excludes idle and I/O wait", () => {
  const { worked, all } = parseMachineTime("cpu  100 20 30 900 800 4 5 6 0 0");
  expect([worked, all]).toEqual([1.65, 18.65]);
  expect(() => parseMachineTime("")).toThrow("no processor time");
});

test("contenders have their own core if there are two", () => {
  expect(assignCores(1)).toEqual({ subject: "0", load: "0", sink: "0" });
  expect(assignCores(2)).toEqual({ subject: "0", load: "1", sink: "1" });
  for (const many of [3, 8]) expect(assignCores(many)).toEqual({ subject: "0", load: "1", sink: "2" });
  expect(describeCores(1)).toContain("one core only");
});
