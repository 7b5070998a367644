import { arrived, freshTrace, messageOf, of, received } from "./envelopes.ts";
import { expect, test } from "./fixtures.ts";
import { app } from "./stack.ts";

const broken = { name: "culvert-broken-layout", value: "1", url: app.origin };

test("a root layout that fails shows an error page of its own and sends one event, until a retry works", async ({
  page,
  allow,
}) => {
  allow.consoleError(/status of 500|Minified React error #441/);
  const trace = freshTrace();
  await page.setExtraHTTPHeaders(trace.headers);
  await page.context().addCookies([broken]);

  const response = await page.goto("/trace");

  expect(response?.status()).toBe(500);
  expect(response?.headers()["cache-control"]).toContain("no-store");
  expect(await response?.text()).toContain('<meta name="robots" content="noindex"/>');
  const id = response?.headers()["x-request-id"];
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    "Application error: a server-side exception has occurred",
  );
  await expect(page).toHaveTitle("Application error");
  const notice = page.getByRole("main").getByRole("alert");
  await expect(notice).toContainText(`Request id${id}Event id${id}`);
  const digest = (await page.getByText(/^Digest: \d+$/).textContent())?.slice("Digest: ".length);
  expect(await page.content()).not.toContain("Thrown on purpose");
  const event = await arrived("event", of(trace.id));
  expect(messageOf(event)).toContain("Thrown on purpose in the root layout");
  expect(event.item.payload).toMatchObject({ event_id: id, tags: { request_id: id, digest } });

  await page.context().clearCookies();
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("The trace of this page view");
  expect(await received("event", of(trace.id))).toHaveLength(1);
});
