import { expect, it } from "vitest";
import { navigationHeaders, navigationPath } from "./navigation.ts";

it("a client navigation contains the segments of the page that it starts from, and keeps the query of the next one", () => {
  const tree = navigationHeaders("/a/b?x=1")["next-router-state-tree"] ?? "";
  expect(JSON.parse(decodeURIComponent(tree))).toEqual([
    "",
    { children: ["a", { children: ["b", { children: ["__PAGE__", {}] }] }] },
  ]);
  expect([navigationPath("/c", "h"), navigationPath("/c?y=2", "h")]).toEqual(["/c?_rsc=h", "/c?y=2&_rsc=h"]);
});
