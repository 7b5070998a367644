import { arrived, isFromBrowser, of, type ReceivedItem, received } from "./envelopes.ts";
import { expect, test, traceOf } from "./fixtures.ts";

test("the not-found page has status 404 and is not indexed", async ({ page, allow }) => {
  allow.consoleError(/status of 404/);
  const response = await page.goto("/no-such-page");
  expect(response?.status()).toBe(404);
  expect(await response?.text()).toContain('name="robots" content="noindex"');
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Page not found");
});

test("neither opening it nor a link to it sends an error or a transaction", async ({ page, allow }) => {
  allow.consoleError(/status of 404/);
  await page.goto("/no-such-page");
  const opened = await traceOf(page);
  // A hidden page sends everything that it has buffered.
  await page.goto("/test-events");
  const navigation = page.waitForRequest((request) => request.url().includes("/no-such-page?_rsc="));
  await page.getByRole("link", { name: "Open a missing page" }).click();
  const navigated = (await (await navigation).headerValue("sentry-trace"))?.slice(0, 32) ?? "";
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Page not found");
  const missing = [opened, navigated, await traceOf(page)];
  expect(new Set(missing).size).toBe(3);
  await page.goto("/trace");
  const later = of(await traceOf(page));
  for (const browser of [true, false])
    await arrived("transaction", (transaction) => later(transaction) && isFromBrowser(transaction) === browser);
  // The transactions of prefetched links are in the trace of the page that has the links.
  const isPrefetch = ({ item }: ReceivedItem) => "next-router-prefetch" in (item.payload.request?.headers ?? {});
  for (const type of ["event", "transaction"]) {
    const found = await received(type, (event) => missing.some((trace) => of(trace)(event)));
    expect(found.filter((event) => !isPrefetch(event))).toEqual([]);
  }
});
