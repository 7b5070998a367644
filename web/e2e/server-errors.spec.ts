import type { Page } from "@playwright/test";
import { arrived, freshTrace, isFromBrowser, messageOf, of, received } from "./envelopes.ts";
import { expect, outcomeOf, test, traceOf } from "./fixtures.ts";

const SERVER_SIDE = "Application error: a server-side exception has occurred";

/** The words of the error page: the catalogue's text, and ids that lead to the one event. Returns the digest it shows. */
async function expectErrorPage(page: Page, id: string | undefined, digest: boolean) {
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(SERVER_SIDE);
  const shown = page.getByText(/^Digest: \d+$/);
  if (digest) await expect(shown).toBeVisible();
  await expect(page.getByRole("main").getByRole("alert")).toContainText(`Request id${id}Event id${id}`);
  expect(await page.content()).not.toContain("Thrown on purpose");
  return digest ? (await shown.textContent())?.slice("Digest: ".length) : undefined;
}

/** React has taken the page over, whose second error would be reported by now, and there is one report. */
async function expectOneReport(page: Page, trace: string) {
  // The page that needs no script has a link instead.
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  // Hidden, the browser sends all that it has.
  await page.goto("/");
  await arrived("transaction", (transaction) => of(trace)(transaction) && isFromBrowser(transaction));
  expect((await received("event", of(trace))).map(messageOf)).toEqual([expect.stringContaining("Thrown on purpose")]);
}

test("an exception on the server is reported once, and the page shows digest and ids, not its message", async ({
  page,
  watch,
}) => {
  watch.expectConsoleError(/status of 500/);
  watch.expectConsoleError(/Minified React error #441/);
  const trace = freshTrace();
  await page.setExtraHTTPHeaders(trace.headers);

  const response = await page.goto("/test-events/server-exception");

  expect(response?.status()).toBe(500);
  const id = response?.headers()["x-request-id"];
  const digest = await expectErrorPage(page, id, true);
  const report = await arrived("event", of(trace.id));
  expect(messageOf(report)).toContain("Thrown on purpose");
  expect(report.item.payload).toMatchObject({ event_id: id, tags: { request_id: id, digest } });
  const transaction = await arrived("transaction", of(trace.id));
  expect(transaction.item.payload.tags).toMatchObject({ request_id: id });
  await expectOneReport(page, trace.id);
});

test("one that a navigation in the browser meets shows the ids of that navigation's request", async ({
  page,
  watch,
}) => {
  watch.expectConsoleError(/status of 500|Minified React error #441/);
  await page.goto("/test-events");
  const navigation = page.waitForResponse((response) => response.url().includes("/test-events/server-exception?_rsc="));
  await page.getByRole("link", { name: "Throw on the server" }).click();
  const id = (await navigation).headers()["x-request-id"];
  await expectErrorPage(page, id, true);
  await arrived("event", (event) => event.item.payload.event_id === id);
});

test("a component that throws on the server and again in the browser makes one report", async ({ page, watch }) => {
  watch.expectConsoleError(/status of 500|Thrown on purpose|Minified React/);
  const trace = freshTrace();
  await page.setExtraHTTPHeaders(trace.headers);
  const response = await page.goto("/test-events/both-sides");
  expect(response?.status()).toBe(500);
  await expectErrorPage(page, response?.headers()["x-request-id"], true);
  await arrived("event", of(trace.id));
  await expectOneReport(page, trace.id);
});

test("so does one that throws in a part of a page that is under way", async ({ page, watch }) => {
  watch.expectConsoleError(/Thrown on purpose|Minified React/);
  const trace = freshTrace();
  await page.setExtraHTTPHeaders(trace.headers);
  const response = await page.goto("/test-events/in-suspense");
  expect(response?.status()).toBe(200);
  const id = response?.headers()["x-request-id"];
  const digest = await expectErrorPage(page, id, true);
  const report = await arrived("event", of(trace.id));
  expect(report.item.payload).toMatchObject({ event_id: id, tags: { digest } });
  await expectOneReport(page, trace.id);
});

test("an exception in a server action is reported once, with the ids of its own request", async ({ page, watch }) => {
  watch.expectConsoleError(/status of 500|Minified React error #441/);
  await page.goto("/test-events");
  const post = page.waitForResponse(
    (response) => response.request().method() === "POST" && response.url().endsWith("/test-events"),
  );
  await page.getByRole("button", { name: "Throw in a server action" }).click();
  const id = (await post).headers()["x-request-id"];
  await expectErrorPage(page, id, true);
  const report = await arrived("event", (event) => event.item.payload.tags?.request_id === id);
  expect(messageOf(report)).toContain("Thrown on purpose in a server action");
  await arrived("transaction", (transaction) => transaction.item.payload.tags?.request_id === id);
  expect(await received("event", (event) => event.item.payload.tags?.request_id === id)).toHaveLength(1);
});

test("an exception in a route handler is reported once, by the id that its caller is given", async ({
  page,
  watch,
}) => {
  watch.expectConsoleError(/status of 500|Thrown on purpose/);
  await page.goto("/test-events");
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Throw in a route handler" }).click();
  const answer = outcomeOf(page, "Throw in a route handler");
  await expect(answer).toContainText("Answered 500");
  const id = (await answer.textContent())?.match(/[0-9a-f]{32}/)?.[0];
  const report = await arrived("event", (event) => event.item.payload.event_id === id);
  expect(messageOf(report)).toContain("Thrown on purpose in a route handler");
  // A second report of it, by the server or by the browser, would have come before these.
  await arrived("transaction", (transaction) => transaction.item.payload.tags?.request_id === id);
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await arrived("event", (event) => of(trace)(event) && isFromBrowser(event));
  expect(await received("event", (event) => of(trace)(event) && !isFromBrowser(event))).toHaveLength(1);
  expect(await received("event", (event) => of(trace)(event) && isFromBrowser(event))).toHaveLength(1);
});

for (const [what, path, status] of [
  ["a redirect", "/test-events/redirect", 307],
  ["a missing page", "/no-such-page", 404],
  ["a missing API route", "/api/no-such-route", 404],
] as const) {
  test(`${what} is not reported as an error`, async ({ request }) => {
    const trace = freshTrace();
    const before = await request.get(path, { headers: trace.headers, maxRedirects: 0 });
    expect(before.status()).toBe(status);
    // What the server had to say of that request is sent before it says anything of a later one.
    const later = freshTrace();
    await request.get("/test-events/server-exception", { headers: later.headers });
    await arrived("event", of(later.id));
    await arrived("transaction", of(later.id));
    expect(await received("event", of(trace.id))).toEqual([]);
    if (status === 404) expect(await received("transaction", of(trace.id))).toEqual([]);
  });
}
