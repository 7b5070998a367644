import { arrived, isFromBrowser, of, received } from "./envelopes.ts";
import { expect, test, traceOf } from "./fixtures.ts";

const MISSING = [
  "/no-such-page",
  "/test-events/no-such-page",
  "/trace/no-such-page",
  "/healthz/x",
  "/api/no-such-route",
];

for (const path of MISSING) {
  test(`${path} responds with 404 and is not indexed`, async ({ request }) => {
    const response = await request.get(path);
    expect(response.status()).toBe(404);
    expect(response.headers()["x-robots-tag"]).toBe("noindex");
  });
}

test("the not-found page is rendered per request, with the policy's nonce", async ({ page, allow }) => {
  allow.consoleError(/status of 404/);
  const response = await page.goto("/no-such-page");
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
  const navigated = (await (await navigation).headerValue("sentry-trace"))?.slice(0, 32);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Page not found");
  const loaded = await traceOf(page);
  await page.goto("/trace");
  const later = of(await traceOf(page));
  await arrived("transaction", (transaction) => later(transaction) && isFromBrowser(transaction));
  await arrived("transaction", (transaction) => later(transaction) && !isFromBrowser(transaction));
  const missing = [opened, navigated, loaded];
  expect(new Set(missing).size).toBe(3);
  for (const type of ["event", "transaction"]) {
    expect(await received(type, (event) => missing.some((trace) => trace && of(trace)(event)))).toEqual([]);
  }
});
