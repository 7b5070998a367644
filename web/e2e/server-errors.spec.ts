import type { Page } from "@playwright/test";
import { arrived, freshTrace, isFromBrowser, messageOf, of, received } from "./envelopes.ts";
import { expect, outcomeOf, test, traceOf } from "./fixtures.ts";

const SERVER_SIDE = "Application error: a server-side exception has occurred";

/** Expects the texts of the error page and the ids of the event. Returns the digest that it shows. */
async function expectErrorPage(page: Page, id: string | undefined, digest: boolean) {
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(SERVER_SIDE);
  const shown = page.getByText(/^Digest: \d+$/);
  if (digest) await expect(shown).toBeVisible();
  await expect(page.getByRole("main").getByRole("alert")).toContainText(`Request id${id}Event id${id}`);
  expect(await page.content()).not.toContain("Thrown on purpose");
  return digest ? (await shown.textContent())?.slice("Digest: ".length) : undefined;
}

/** Waits for hydration, after which React's second error would have been sent, and expects a single event. */
async function expectOneEvent(page: Page, trace: string) {
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  // A hidden page sends everything that it has buffered.
  await page.goto("/");
  await arrived("transaction", (transaction) => of(trace)(transaction) && isFromBrowser(transaction));
  expect((await received("event", of(trace))).map(messageOf)).toEqual([expect.stringContaining("Thrown on purpose")]);
}

test("an exception on the server sends one event, and the page shows digest and ids, not its message", async ({
  page,
  allow,
}) => {
  allow.consoleError(/status of 500/);
  allow.consoleError(/Minified React error #441/);
  const trace = freshTrace();
  await page.setExtraHTTPHeaders(trace.headers);

  const response = await page.goto("/test-events/server-exception");

  expect(response?.status()).toBe(500);
  const id = response?.headers()["x-request-id"];
  const digest = await expectErrorPage(page, id, true);
  const event = await arrived("event", of(trace.id));
  expect(messageOf(event)).toContain("Thrown on purpose");
  expect(event.item.payload).toMatchObject({ event_id: id, tags: { request_id: id, digest } });
  const transaction = await arrived("transaction", of(trace.id));
  expect(transaction.item.payload.tags).toMatchObject({ request_id: id });
  await expectOneEvent(page, trace.id);
});

test("an exception during a navigation in the browser shows the ids of that navigation's request", async ({
  page,
  allow,
}) => {
  allow.consoleError(/status of 500|Minified React error #441/);
  await page.goto("/test-events");
  const navigation = page.waitForResponse((response) => response.url().includes("/test-events/server-exception?_rsc="));
  await page.getByRole("link", { name: "Throw on the server" }).click();
  const id = (await navigation).headers()["x-request-id"];
  await expectErrorPage(page, id, true);
  await arrived("event", (event) => event.item.payload.event_id === id);
});

test("a component that throws on the server and again in the browser sends one event", async ({ page, allow }) => {
  allow.consoleError(/status of 500|Thrown on purpose|Minified React/);
  const trace = freshTrace();
  await page.setExtraHTTPHeaders(trace.headers);
  const response = await page.goto("/test-events/both-sides");
  expect(response?.status()).toBe(500);
  // The document that Next sends then does not hold the digest: the ids alone lead to the event.
  await expectErrorPage(page, response?.headers()["x-request-id"], false);
  await arrived("event", of(trace.id));
  await expectOneEvent(page, trace.id);
});

test("so does a component in a Suspense boundary of a page that has already started", async ({ page, allow }) => {
  allow.consoleError(/Thrown on purpose|Minified React/);
  const trace = freshTrace();
  await page.setExtraHTTPHeaders(trace.headers);
  const response = await page.goto("/test-events/in-suspense");
  expect(response?.status()).toBe(200);
  const id = response?.headers()["x-request-id"];
  const digest = await expectErrorPage(page, id, true);
  const event = await arrived("event", of(trace.id));
  expect(event.item.payload).toMatchObject({ event_id: id, tags: { digest } });
  await expectOneEvent(page, trace.id);
});

test("an exception in a server action sends one event, with the ids of its own request", async ({ page, allow }) => {
  allow.consoleError(/status of 500|Minified React error #441/);
  await page.goto("/test-events");
  const post = page.waitForResponse(
    (response) => response.request().method() === "POST" && response.url().endsWith("/test-events"),
  );
  await page.getByRole("button", { name: "Throw in a server action" }).click();
  const id = (await post).headers()["x-request-id"];
  await expectErrorPage(page, id, true);
  const event = await arrived("event", (event) => event.item.payload.tags?.request_id === id);
  expect(messageOf(event)).toContain("Thrown on purpose in a server action");
  await arrived("transaction", (transaction) => transaction.item.payload.tags?.request_id === id);
  expect(await received("event", (event) => event.item.payload.tags?.request_id === id)).toHaveLength(1);
});

test("an exception in a route handler sends one event, whose id the caller gets", async ({ page, allow }) => {
  allow.consoleError(/status of 500|Thrown on purpose/);
  await page.goto("/test-events");
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Throw in a route handler" }).click();
  const outcome = outcomeOf(page, "Throw in a route handler");
  await expect(outcome).toContainText("Status 500");
  const id = (await outcome.textContent())?.match(/[0-9a-f]{32}/)?.[0];
  const event = await arrived("event", (event) => event.item.payload.event_id === id);
  expect(messageOf(event)).toContain("Thrown on purpose in a route handler");
  // A second event of it, from server or browser, would have arrived before these.
  await arrived("transaction", (transaction) => transaction.item.payload.tags?.request_id === id);
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await arrived("event", (event) => of(trace)(event) && isFromBrowser(event));
  expect(await received("event", (event) => of(trace)(event) && !isFromBrowser(event))).toHaveLength(1);
  expect(await received("event", (event) => of(trace)(event) && isFromBrowser(event))).toHaveLength(1);
});
