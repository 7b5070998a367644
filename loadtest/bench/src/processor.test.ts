import { expect, test } from "vitest";
import { assignCores, describeCores, parseReading } from "./processor.ts";

test("processor time in both versions of cgroups; the machine's work excludes idle and I/O wait", () => {
  const machine = "cpu  100 20 30 900 800 4 5 6 0 0";
  expect(parseReading(`usage_usec 2500000;${machine}`)).toEqual({ own: 2.5, worked: 1.65, all: 18.65 });
  expect(parseReading(`2500000000;${machine}`).own).toBe(2.5);
  expect(() => parseReading("cat: no such file")).toThrow("no processor time");
});

test("contenders have their own core if there are two", () => {
  expect(assignCores(1)).toEqual({ subject: "0", load: "0", sink: "0" });
  expect(assignCores(2)).toEqual({ subject: "0", load: "1", sink: "1" });
  expect(assignCores(8)).toEqual({ subject: "0", load: "1", sink: "2" });
  expect(describeCores(1)).toContain("one core only");
});
