import { describe, expect, it } from "vitest";
import { navigation } from "./navigation.ts";

describe("a client navigation", () => {
  it("contains its origin, and the hash that Next 16.4 computes for these headers", async () => {
    const { path, headers } = await navigation("/", "/trace");
    expect(JSON.parse(decodeURIComponent(headers["next-router-state-tree"] ?? ""))).toEqual([
      "",
      { children: ["__PAGE__", {}] },
    ]);
    const digest = await crypto.subtle.digest(
      "SHA-256",
      new TextEncoder().encode(`0,0,${headers["next-router-state-tree"]},/`),
    );
    expect(path).toBe(`/trace?_rsc=${Buffer.from(digest).subarray(0, 12).toString("base64url")}`);
  });

  it("nests the segments of a deeper page, and keeps the query", async () => {
    const { path, headers } = await navigation("/a/b?x=1", "/c?y=2");
    expect(JSON.parse(decodeURIComponent(headers["next-router-state-tree"] ?? ""))).toEqual([
      "",
      { children: ["a", { children: ["b", { children: ["__PAGE__", {}] }] }] },
    ]);
    expect(path).toMatch(/^\/c\?y=2&_rsc=[\w-]{16}$/);
  });
});
