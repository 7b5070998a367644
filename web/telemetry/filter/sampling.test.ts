import { describe, expect, test } from "vitest";
import { sampler } from "./sampling.js";

const inheritOrSampleWith = (rate: number) => rate;
const rateOf = (attributes: Record<string, unknown>, inherit = inheritOrSampleWith) =>
  sampler(0.25)({ attributes, inheritOrSampleWith: inherit });

describe("requests", () => {
  test.each([
    "/",
    "/trace?x=1.5",
    "/healthz-of-others",
    "/_nextdoor",
    "/docs/v1.2/intro",
    "/u/jo.doe",
    "/domains/example.com",
  ])("%s is sampled by rate", (target) => expect(rateOf({ "http.target": target })).toBe(0.25));

  test("the caller's decision overrides the rate", () => {
    expect(rateOf({ "http.target": "/" }, () => 1)).toBe(1);
  });

  test.each([
    "/healthz",
    "/readyz",
    "/healthz?probe=1",
    "/_next/static/chunks/a.js",
    "/favicon.ico",
    "/robots.txt",
    "/photos/A.JPG",
    "/favicon.ico?favicon.abc.ico",
  ])("%s is never traced, even if the caller sampled it", (target) =>
    expect(rateOf({ "http.target": target }, () => 1)).toBe(0),
  );
});

test("Next's own start-up is not traced", () => {
  expect(rateOf({ "next.span_type": "NextNodeServer.findPageComponents" })).toBe(0);
});

test("a request is traced, and a span of the app outside of any request too", () => {
  expect(rateOf({ "next.span_type": "BaseServer.handleRequest", "http.target": "/" })).toBe(0.25);
  expect(rateOf({})).toBe(0.25);
});
