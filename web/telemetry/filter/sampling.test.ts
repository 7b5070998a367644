import { beforeEach, expect, test, vi } from "vitest";
import { sampler } from "./sampling.js";

const rateOf = (attributes: Record<string, unknown>, inheritOrSampleWith = (rate: number) => rate) =>
  sampler(0.25)({ attributes, inheritOrSampleWith });

beforeEach(() => {
  vi.stubEnv("CULVERT_BASE_PATH", "/shop");
  vi.stubEnv("HEALTH_PATH", "/api/health");
});

const PAGES = [
  "/shop",
  "/shop/",
  "/shopping/healthz",
  "/shop/api/healthy",
  "/",
  "/trace?x=1.5",
  "/healthz-of-others",
  "/_nextdoor",
  "/docs/v1.2/intro",
  "/u/jo.doe",
];
test.each(PAGES)("%s is sampled by rate, unless its caller has decided", (target) => {
  expect(rateOf({ "http.target": target })).toBe(0.25);
  expect(rateOf({ "http.target": target }, () => 1)).toBe(1);
});

const UNTRACED = ["/healthz", "/readyz?probe=1", "/_next/static/chunks/a.js", "/photos/A.JPG", "/favicon.ico?a.b"];
const BELOW = ["/shop/healthz", "/shop/_next/image?url=a", "/api/health", "/shop/api/health?probe=1"];
test.each([...UNTRACED, ...BELOW])("%s is never traced, even if the caller sampled it", (target) => {
  expect(rateOf({ "http.target": target }, () => 1)).toBe(0);
});

test("a home page is traced, even if it is the health check", () => {
  vi.stubEnv("HEALTH_PATH", "/");
  for (const target of ["/", "/shop/"]) expect(rateOf({ "http.target": target })).toBe(0.25);
});

test("Next's start-up is not traced; a request is, and a span of the app outside of any request", () => {
  expect(rateOf({ "next.span_type": "NextNodeServer.findPageComponents" })).toBe(0);
  expect(rateOf({ "next.span_type": "BaseServer.handleRequest", "http.target": "/" })).toBe(0.25);
  expect(rateOf({})).toBe(0.25);
});
