import { beforeEach, expect, test, vi } from "vitest";
import { filterReason, isNotFoundNavigation } from "./event-filters.js";
import { sampler } from "./sampling.js";

const thrown = (type: string, value: string, ...files: string[]) => ({
  exception: { values: [{ type, value, stacktrace: { frames: files.map((filename) => ({ filename })) } }] },
});
const [app, extension] = ["https://app/_next/static/chunks/a.js", "chrome-extension://abc/content.js"];

test.each<[reason: string, text: string, frames: string[], similar: string, frames: string[]]>([
  ["two layout passes", "ResizeObserver loop completed with undelivered notifications.", [], "ResizeObserver", [app]],
  ["in-app browser", "Can't find variable: __gCrWeb", [], "Can't find variable: gCrWebShop", [app]],
  ["mail scanner", "Object Not Found Matching Id:3, MethodName:update", [], "Object Not Found Matching Id:3", [app]],
  ["redirect or not-found", "NEXT_REDIRECT", [], "redirect failed", [app]],
  ["script of another origin", "Script error.", [], "Script error.", [app, app]],
  ["browser extension", "x is null", [app, extension], "x is null", [extension, app]],
])("%s: that error is dropped, and a similar one sent", (reason, text, frames, similar, others) => {
  expect(filterReason(thrown("Error", text, ...frames))).toContain(reason);
  expect(filterReason(thrown("Error", similar, ...others))).toBeUndefined();
});

test.each([419, 441])(
  "React's error #%i is dropped if it repeats an exception of the server, with its digest",
  (number) => {
    const repeated = thrown("Error", `Minified React error #${number}; visit https://react.dev/errors/${number}`);
    expect(filterReason(repeated, { digest: "1234567" })).toContain("the server has sent");
    // The page was cut off in the middle: React throws the same error, and the server has sent nothing.
    expect(filterReason(repeated, { digest: undefined })).toBeUndefined();
  },
);

test("Next's redirects are recognized by their digest too", () => {
  expect(filterReason(thrown("Error", "x"), { digest: "NEXT_REDIRECT;replace;/trace;307;" })).toContain("redirect");
  expect(filterReason(thrown("Error", "x"), { digest: "1234567" })).toBeUndefined();
});

test.each([
  ["TypeError", "Failed to fetch"],
  // Also thrown when a user navigates away; the name alone does not distinguish the two.
  ["AbortError", "signal is aborted without reason"],
])("%s: %s may mean that our own proxy is down, so it is sent", (type, text) =>
  expect(filterReason(thrown(type, text, app))).toBeUndefined(),
);

const navigation = (requested: string, status: number) => ({
  contexts: { trace: { data: { "url.path": "/missing" } } },
  spans: [{}, { data: { "http.url": requested, "http.response.status_code": status } }],
});

test.each<[what: string, is: boolean, transaction: object]>([
  ["a page that does not exist", true, navigation("https://app/missing?_rsc=1", 404)],
  ["a page that exists", false, navigation("https://app/missing?_rsc=1", 200)],
  ["a prefetch of another page that found nothing", false, navigation("https://app/other?_rsc=1", 404)],
  ["a call to the page's own address that is not its load", false, navigation("https://app/missing", 404)],
])("%s: dropped as a missing page: %s", (_what, is, transaction) => expect(isNotFoundNavigation(transaction)).toBe(is));

const rateOf = (attributes: Record<string, unknown>, inheritOrSampleWith = (rate: number) => rate) =>
  sampler(0.25)({ attributes, inheritOrSampleWith });

beforeEach(() => {
  vi.stubEnv("CULVERT_BASE_PATH", "/shop");
  vi.stubEnv("HEALTH_PATH", "/api/health");
});

const PAGES = [
  "/shop",
  "/shopping/healthz",
  "/shop/api/healthy",
  "/",
  "/trace?x=1.5",
  "/healthz-of-others",
  "/_nextdoor",
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
