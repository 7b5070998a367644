import { arrived, isFromBrowser, of, received } from "./envelopes.ts";
import { expect, test, traceOf } from "./fixtures.ts";

test("the not-found page is rendered per request, with the policy's nonce, and is not indexed", async ({
  page,
  allow,
}) => {
  allow.consoleError(/status of 404/);
  const response = await page.goto("/no-such-page");
  expect(response?.status()).toBe(404);
  const nonce = response?.headers()["content-security-policy"]?.match(/'nonce-([^']+)'/)?.[1];
  const html = (await response?.text()) ?? "";
  expect(html.match(/<script/g)?.length).toBe(html.match(new RegExp(`<script[^>]* nonce="${nonce}"`, "g"))?.length);
  expect(html).toContain('name="robots" content="noindex"');
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
  for (const type of ["event", "transaction"])
    expect(await received(type, (event) => missing.some((trace) => of(trace)(event)))).toEqual([]);
});
