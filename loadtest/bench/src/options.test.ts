import { expect, test } from "vitest";
import { readChoice, readOptions } from "./options.ts";

test("options have defaults, and an empty one counts as not set", () => {
  expect(readOptions({ ROUNDS: "", SECONDS: "2" })).toMatchObject({ rounds: 5, seconds: 2, openMilliseconds: 300 });
});

test.each(["0", "-1", "1.5", "three", "1e3"])("ROUNDS=%s is rejected in one line that names it", (value) => {
  expect(() => readOptions({ ROUNDS: value })).toThrow(
    /^ROUNDS '.*' is not a whole number of 1 or more: use 5, or leave it out$/,
  );
});

test("only IDLE_TIMEOUT_S may be 0", () => {
  expect(readOptions({ IDLE_TIMEOUT_S: "0" }).idleTimeoutSeconds).toBe(0);
  expect(() => readOptions({ SECONDS: "0" })).toThrow("SECONDS '0'");
});

test("the former name PATIENCE is rejected in one line that names the new one", () => {
  expect(() => readOptions({ PATIENCE: "10" })).toThrow(/^PATIENCE is no longer an option: use IDLE_TIMEOUT_S$/);
});

test("ONLY chooses comparisons and rejects an unknown one", () => {
  const known = ["tunnel", "pages"];
  expect(readChoice({}, known)).toEqual(known);
  expect(readChoice({ ONLY: "pages, tunnel" }, known)).toEqual(["pages", "tunnel"]);
  expect(() => readChoice({ ONLY: "page" }, known)).toThrow("choose among tunnel, pages");
});
