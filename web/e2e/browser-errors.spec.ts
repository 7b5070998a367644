import { arrived, isFromBrowser, messageOf, of, received } from "./envelopes.ts";
import { expect, open, outcomeOf, test, traceOf } from "./fixtures.ts";
import { app } from "./stack.ts";

const THROW = "Throw in the browser";

test("an error thrown in the browser arrives at the ingest, through the app's own origin", async ({ page, allow }) => {
  allow.consoleError(/Thrown on purpose/);
  const posts: string[] = [];
  page.on("request", (request) => request.method() === "POST" && posts.push(request.url()));
  const response = await open(page, "/test-events");
  const trace = await traceOf(page);
  await page.getByRole("button", { name: THROW }).click();
  const event = await arrived("event", (event) => of(trace)(event) && isFromBrowser(event));
  expect(messageOf(event)).toContain("Thrown on purpose");
  expect(event.item.payload).toMatchObject({
    environment: "production",
    release: process.env.SENTRY_RELEASE,
    tags: { request_id: response?.headers()["x-request-id"] },
  });
  expect(event.envelope.request.url).toMatch(/\/api\/\d+\/envelope\/$/);
  const { event_id } = event.item.payload;
  await expect(outcomeOf(page, THROW)).toHaveText(new RegExp(`^Accepted in \\d+ ms \\(error ${event_id}\\)`));
  await expect(page.getByRole("region", { name: "Table: Sent by this browser" })).toContainText(event_id);
  expect(new Set(posts)).toEqual(new Set([`${app.origin}${app.tunnel}`]));
});

test("a component that throws in the browser sends one event, and the error page offers a retry", async ({
  page,
  allow,
}) => {
  allow.consoleError(/Thrown on purpose/);
  const response = await open(page, "/test-events");
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Throw in a component" }).click();
  const heading = page.getByRole("heading", { level: 1 });
  await expect(heading).toHaveText("Application error: a client-side exception has occurred");
  const crash = await arrived("event", of(trace));
  const ids = `Request id${response?.headers()["x-request-id"]}Event id${crash.item.payload.event_id}`;
  await expect(page.getByRole("main").getByRole("alert")).toContainText(ids);
  await expect(page.getByRole("main").getByRole("alert")).not.toContainText(messageOf(crash));
  await expect(page.getByText("Digest:")).toHaveCount(0);

  await page.getByRole("button", { name: "Try again" }).click();
  await expect(heading).toHaveText("Test events");
  // A second event of the crash would have been sent before the next one.
  await page.getByRole("button", { name: THROW }).click();
  await arrived("event", (event) => of(trace)(event) && messageOf(event).endsWith("Thrown on purpose in the browser"));
  expect(await received("event", (event) => of(trace)(event) && messageOf(event) === messageOf(crash))).toHaveLength(1);
});
