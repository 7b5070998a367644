import { expect, test } from "vitest";
import { dropDeadEnd } from "./noise";

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
