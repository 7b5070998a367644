import { expect, test } from "vitest";
import { duration, utc } from "./time";

test.each([
  [0.4, "0 s"],
  [12.9, "12 s"],
  [61, "1 min 1 s"],
  [3600, "1 h"],
  [277_200, "3 d 5 h"],
])("%f seconds are %s", (seconds, text) => expect(duration(seconds)).toBe(text));

test("a timestamp shows its time zone", () => expect(utc("2026-01-02T03:04:05.678Z")).toBe("2026-01-02 03:04:05 UTC"));
