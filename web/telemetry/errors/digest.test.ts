import { expect, test } from "vitest";
import { digestOf, tagDigest } from "./digest.js";

test.each([
  [{ digest: "1" }, "1"],
  [new Error("x"), undefined],
  [{ digest: 1 }, undefined],
  ["text", undefined],
  [null, undefined],
])("the digest of %j is %j", (error, digest) => expect(digestOf(error)).toBe(digest));

test("the event of a server exception is tagged with the digest that the user saw", () => {
  const event = tagDigest({ tags: { kept: "yes" } }, { originalException: { digest: "123" } });
  expect(event).toEqual({ tags: { kept: "yes", digest: "123" } });
});

test("an event without a digest is not changed", () => {
  const event = { tags: {} };
  expect(tagDigest(event, { originalException: new Error("x") })).toBe(event);
});
