import type { Page } from "@playwright/test";
import { arrived, freshTrace, isFromBrowser, messageOf, of, received } from "./envelopes.ts";
import { expect, open, outcomeOf, test, traceOf } from "./fixtures.ts";
import { app } from "./stack.ts";

test.beforeEach(({ allow }) => allow.consoleError(/status of 500|Thrown on purpose|Minified React error/));

async function expectErrorPage(page: Page, id: string | undefined, hasDigest = true) {
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    "Application error: a server-side exception has occurred",
  );
  // After hydration, in which React throws a second error.
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  await expect(page.getByRole("main").getByRole("alert")).toContainText(`Request id${id}Event id${id}`);
  expect(await page.content()).not.toContain("Thrown on purpose");
  const digest = page.getByText(/^Digest: \d+$/);
  await expect(digest).toHaveCount(hasDigest ? 1 : 0);
  return hasDigest ? (await digest.textContent())?.slice("Digest: ".length) : undefined;
}

const broken = { name: "culvert-broken-layout", value: "1", url: app.origin };

// With Cache Components, Next sends status 200 before it renders a page for a request.
for (const [what, path, hasDigest, cookies] of [
  ["an exception of a page", "/test-events/server-exception", true, []],
  // The document that Next sends then does not hold the digest: the ids alone lead to the event.
  ["a component that throws on the server and in the browser", "/test-events/both-sides", false, []],
  ["a component in a Suspense boundary of a page that has started", "/test-events/in-suspense", true, []],
  ["the root layout", "/trace", true, [broken]],
] as const)
  test(`${what} sends one event, and the page shows its ids, not its message`, async ({ page, context }) => {
    const trace = freshTrace();
    await page.setExtraHTTPHeaders(trace.headers);
    await context.addCookies([...cookies]);
    const response = await page.goto(path);
    expect(response?.status()).toBe(200);
    const id = response?.headers()["x-request-id"];
    const digest = await expectErrorPage(page, id, hasDigest);
    const event = await arrived("event", of(trace.id));
    expect(messageOf(event)).toContain("Thrown on purpose");
    expect(event.item.payload).toMatchObject({
      event_id: id,
      tags: { request_id: id, ...(digest && { digest }) },
      request: { method: "GET", url: app.origin + path },
    });
    // Prefetched pages have transactions in this trace, too.
    await arrived("transaction", (own) => of(trace.id)(own) && own.item.payload.tags?.request_id === id);
    await context.clearCookies();
    // A hidden page sends everything that it has buffered.
    await page.goto("/");
    await arrived("transaction", (load) => of(trace.id)(load) && isFromBrowser(load));
    expect(await received("event", of(trace.id))).toHaveLength(1);
  });

test("a part that failed on the server is the server's, although its code comes late", async ({ page }) => {
  await page.route("**/_next/static/chunks/*", async (route) => {
    const chunk = await route.fetch();
    // Until React has removed its marker.
    if ((await chunk.text()).includes("on purpose on both sides"))
      await expect(page.locator("template[data-dgst]")).toHaveCount(0);
    await route.fulfill({ response: chunk });
  });
  const response = await page.goto("/test-events/in-suspense");
  await expectErrorPage(page, response?.headers()["x-request-id"]);
  await page.unrouteAll({ behavior: "wait" });
});

test("the error page of the root layout is not stored, and retries", async ({ page, context }) => {
  await context.addCookies([broken]);
  const response = await page.goto("/trace");
  expect(response?.headers()["cache-control"]).toContain("no-store");
  await expect(page).toHaveTitle("Application error");
  await context.clearCookies();
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("The trace of this page view");
});

for (const [what, role, name, address] of [
  ["a navigation", "link", "Throw on the server", /\/test-events\/server-exception\?_rsc=/],
  ["a server action", "button", "Throw in a server action", /\/test-events$/],
] as const)
  test(`an exception in ${what} sends one event, with the ids of its own request`, async ({ page }) => {
    await open(page, "/test-events");
    const answer = page.waitForResponse((response) => address.test(response.url()));
    await page.getByRole(role, { name }).click();
    const id = (await answer).headers()["x-request-id"];
    await expectErrorPage(page, id);
    await arrived("transaction", ({ item }) => item.payload.tags?.request_id === id);
    await arrived("event", ({ item }) => item.payload.event_id === id);
    expect(await received("event", ({ item }) => item.payload.tags?.request_id === id)).toHaveLength(1);
  });

test("an exception in a route handler sends one event, whose id the caller gets", async ({ page }) => {
  await open(page, "/test-events");
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Throw in a route handler" }).click();
  const outcome = outcomeOf(page, "Throw in a route handler");
  await expect(outcome).toContainText("Status 500");
  const id = (await outcome.textContent())?.match(/[0-9a-f]{32}/)?.[0];
  const event = await arrived("event", ({ item }) => item.payload.event_id === id);
  expect(messageOf(event)).toContain("Thrown on purpose in a route handler");
  // A second event of it, from server or browser, would have arrived before these.
  await arrived("transaction", ({ item }) => item.payload.tags?.request_id === id);
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await arrived("event", (thrown) => of(trace)(thrown) && isFromBrowser(thrown));
  expect((await received("event", of(trace))).map(isFromBrowser).sort()).toEqual([false, true]);
});
