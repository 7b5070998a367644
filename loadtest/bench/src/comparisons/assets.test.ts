import { expect, test } from "vitest";
import { findAsset } from "./assets.ts";

test("the first script of a page, anywhere in it", () => {
  const html = '<link href="/_next/static/a.css"><script src="/_next/static/chunks/1-b.js?dpl=2" async=""></script>';
  expect(findAsset(html)).toBe("/_next/static/chunks/1-b.js");
  expect(() => findAsset("<p>Back in a moment</p>")).toThrow("loads no script");
});
