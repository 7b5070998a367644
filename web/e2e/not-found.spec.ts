import type { Page } from "@playwright/test";
import { arrived, isFromBrowser, of, type ReceivedItem, received } from "./envelopes.ts";
import { expect, open, test, traceOf } from "./fixtures.ts";

/** The trace of the not-found page, which is that of its prefetched links. */
async function traceOfMissing(page: Page, open: () => Promise<unknown>): Promise<string> {
  const prefetch = page.waitForRequest(async (request) => {
    const isLink = request.url().includes("/trace?_rsc=");
    return isLink && (await request.headerValue("referer"))?.endsWith("/no-such-page") === true;
  });
  await open();
  return (await (await prefetch).headerValue("sentry-trace"))?.slice(0, 32) ?? "";
}

test("the not-found page has status 404 and is not indexed; neither opening it nor a link to it sends an event", async ({
  page,
  allow,
}) => {
  allow.consoleError(/status of 404/);
  const response = page.waitForResponse("**/no-such-page");
  const opened = await traceOfMissing(page, () => page.goto("/no-such-page"));
  expect((await response).status()).toBe(404);
  expect(await (await response).text()).toContain('name="robots" content="noindex"');
  // A hidden page sends everything that it has buffered.
  await open(page, "/test-events");
  const navigation = page.waitForRequest((request) => request.url().includes("/no-such-page?_rsc="));
  const linked = await traceOfMissing(page, () => page.getByRole("link", { name: "Open a missing page" }).click());
  const navigated = (await (await navigation).headerValue("sentry-trace"))?.slice(0, 32) ?? "";
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Page not found");
  const missing = [opened, navigated, linked];
  expect(new Set(missing).size).toBe(3);
  await page.goto("/trace");
  const later = of(await traceOf(page));
  for (const browser of [true, false])
    await arrived("transaction", (transaction) => later(transaction) && isFromBrowser(transaction) === browser);
  const isMissing = (event: ReceivedItem) => missing.some((trace) => of(trace)(event));
  const names = async (type: string) => (await received(type, isMissing)).map(({ item }) => item.payload.transaction);
  expect(await names("event")).toEqual([]);
  const prefetched = ["GET /", "GET /test-events", "GET /trace"];
  expect((await names("transaction")).filter((name) => !prefetched.includes(name))).toEqual([]);
});
