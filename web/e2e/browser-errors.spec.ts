import { arrived, isFromBrowser, messageOf, received, traceIdOf } from "./reports.ts";
import { app } from "./stack.ts";
import { expect, test, traceOf } from "./visitor.ts";

test("an error thrown in the browser arrives at the ingest, through the app's own origin", async ({ page, watch }) => {
  watch.expectConsoleError(/Thrown on purpose/);
  const posts: string[] = [];
  page.on("request", (request) => request.method() === "POST" && posts.push(request.url()));
  await page.goto("/");
  const trace = await traceOf(page);

  await page.getByRole("button", { name: "Throw in the browser" }).click();

  const report = await arrived("event", (event) => traceIdOf(event) === trace && isFromBrowser(event));
  expect(messageOf(report)).toContain("Thrown on purpose");
  expect(report.item.payload).toMatchObject({ environment: "production", release: process.env.SENTRY_RELEASE });
  expect(report.envelope.request).toMatchObject({
    method: "POST",
    url: expect.stringMatching(/\/api\/\d+\/envelope\/$/),
  });
  await expect(page.getByRole("status", { name: "Delivery" })).toContainText(
    report.envelope.header.event_id ?? "no id",
  );
  expect(new Set(posts)).toEqual(new Set([`${app.origin}${app.tunnel}`]));
});

test("a page that breaks in the browser says so, is reported once, and can be tried again", async ({ page, watch }) => {
  watch.expectConsoleError(/Thrown on purpose/);
  await page.goto("/");
  const trace = await traceOf(page);

  await page.getByRole("button", { name: "Break this page" }).click();

  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    "Application error: a client-side exception has occurred",
  );
  const of = (text: string) => (event: Parameters<typeof messageOf>[0]) =>
    traceIdOf(event) === trace && messageOf(event).includes(text);
  const crash = await arrived("event", of("Thrown on purpose"));
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("This deployment is up");
  // A second report of the crash would have been sent before the next one.
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await arrived("event", of("in the browser"));
  expect(await received("event", of(messageOf(crash)))).toHaveLength(1);
});
