import { describe, expect, test } from "vitest";
import { dropDeadEnd, noiseReason } from "./event-filters";

const thrown = (type: string, value: string, ...files: string[]) => ({
  exception: { values: [{ type, value, stacktrace: { frames: files.map((filename) => ({ filename })) } }] },
});
const app = "https://app/_next/static/chunks/a.js";

describe("noise is dropped, and its look-alike kept", () => {
  test.each([
    [
      "laid out in two passes",
      thrown("Error", "ResizeObserver loop completed with undelivered notifications."),
      thrown("Error", "ResizeObserver is not defined", app),
    ],
    ["script of another site", thrown("Error", "Script error."), thrown("Error", "Script error.", app, app)],
    [
      "browser extension",
      thrown("TypeError", "x is null", app, "chrome-extension://abc/content.js"),
      thrown("TypeError", "x is null", "chrome-extension://abc/content.js", app),
    ],
    [
      "in-app browser",
      thrown("ReferenceError", "Can't find variable: __gCrWeb"),
      thrown("ReferenceError", "Can't find variable: gCrWebShop", app),
    ],
    [
      "mail scanner",
      thrown("UnhandledRejection", "Object Not Found Matching Id:3, MethodName:update, ParamCount:4"),
      thrown("Error", "Object Not Found Matching Id:3", app),
    ],
    ["redirect or to say not found", thrown("Error", "NEXT_REDIRECT"), thrown("Error", "redirect failed", app)],
  ])("%s", (reason, noise, lookAlike) => {
    expect(noiseReason(noise)).toContain(reason);
    expect(noiseReason(lookAlike)).toBeUndefined();
  });

  test.each([419, 441])("React's echo, #%i, of what the server has reported, which has its digest", (number) => {
    const echo = (number: number) =>
      thrown("Error", `Minified React error #${number}; visit https://react.dev/errors/${number}`);
    expect(noiseReason(echo(number), { digest: "1234567" })).toContain("the server has reported");
    // The page was cut off in the middle: React says the same, and no server has reported anything.
    expect(noiseReason(echo(number), { digest: undefined })).toBeUndefined();
    expect(noiseReason(echo(number + 1), { digest: "1234567" })).toBeUndefined();
  });

  test("Next's redirects are recognized by their digest too", () => {
    expect(noiseReason(thrown("Error", "x"), { digest: "NEXT_REDIRECT;replace;/trace;307;" })).toContain("redirect");
    expect(noiseReason(thrown("Error", "x"), { digest: "1234567" })).toBeUndefined();
  });
});

test.each([
  ["TypeError", "Failed to fetch"],
  ["TypeError", "Load failed"],
  ["TypeError", "NetworkError when attempting to fetch resource."],
  ["ChunkLoadError", "Loading chunk 7 failed."],
  // Thrown where somebody goes on as well; by that name alone the two can't be told apart.
  ["AbortError", "signal is aborted without reason"],
  ["AbortError", "This operation was aborted"],
  ["TimeoutError", "The operation was aborted due to timeout"],
])("%s: %s may mean that our own proxy is down, so it is kept", (type, text) =>
  expect(noiseReason(thrown(type, text, app))).toBeUndefined(),
);

const navigation = (asked: string, status: number) => ({
  contexts: { trace: { data: { "url.path": "/missing" } } },
  spans: [{}, { data: { "http.url": asked, "http.response.status_code": status } }],
});

test("a navigation whose page does not exist is dropped", () => {
  expect(dropDeadEnd(navigation("https://app/missing?_rsc=1", 404))).toBeNull();
});

test.each([
  ["a page that exists", navigation("https://app/missing?_rsc=1", 200)],
  ["an API call that found nothing", navigation("https://app/api/thing", 404)],
  ["a prefetch of another page that found nothing", navigation("https://app/other?_rsc=1", 404)],
  ["a call to the page's own address that is not its load", navigation("https://app/missing", 404)],
  ["a page view without any call", { contexts: { trace: { data: { "url.path": "/" } } } }],
])("%s is kept", (_what, transaction) => expect(dropDeadEnd(transaction)).toBe(transaction));
