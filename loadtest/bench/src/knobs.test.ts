import { expect, test } from "vitest";
import { readChoice, readKnobs } from "./knobs.ts";

test("knobs have defaults, and an empty one counts as not set", () => {
  expect(readKnobs({ ROUNDS: "", SECONDS: "2" })).toMatchObject({ rounds: 5, seconds: 2, connections: 32 });
});

test.each(["0", "-1", "1.5", "three", "1e3"])("ROUNDS=%s is refused in one line that names it", (value) => {
  expect(() => readKnobs({ ROUNDS: value })).toThrow(
    /^ROUNDS '.*' is not a whole number of 1 or more: use 5, or leave it out$/,
  );
});

test("only PATIENCE may be none", () => {
  expect(readKnobs({ PATIENCE: "0" }).patience).toBe(0);
  expect(() => readKnobs({ SECONDS: "0" })).toThrow("SECONDS '0'");
});

test("ONLY chooses comparisons and refuses an unknown one", () => {
  const known = ["tunnel", "pages"];
  expect(readChoice({}, known)).toEqual(known);
  expect(readChoice({ ONLY: "pages, tunnel" }, known)).toEqual(["pages", "tunnel"]);
  expect(() => readChoice({ ONLY: "page" }, known)).toThrow("choose among tunnel, pages");
});
