import type { Page } from "@playwright/test";
import { expect, outcomeOf, test } from "../fixtures.ts";
import { recorder } from "../stack.ts";

const THROW = "Throw in the browser";
const answer = (status: number, headers = {}) =>
  recorder.answer({ status, headers: { "content-type": "application/json", ...headers }, body: "{}" });

test.beforeEach(({ allow }) => allow.consoleError(/status of (?:403|429)|Thrown on purpose/));
test.afterEach(async ({ page }) => {
  await answer(200);
  await expectState(page, /^Every hop responds/);
});

/** Opens the overview and waits until it shows this state, without a reload: the server checks every two seconds. */
async function expectState(page: Page, message: RegExp) {
  await page.goto("/");
  await expect(page.getByRole("status", { name: "State of the path" })).toHaveText(message);
}

test("an ingest that does not know the key is shown, with a fix", async ({ page }) => {
  await answer(403);
  await expectState(
    page,
    /^2 hops fail.*responds with 403: it does not know the key of SENTRY_DSN\. Copy the DSN again/,
  );
  await expect(page.getByText("fails", { exact: true })).toHaveCount(2);
  await page.goto("/test-events");
  await page.getByRole("button", { name: THROW }).click();
  await expect(outcomeOf(page, THROW)).toContainText("Rejected with 403");
});

test("a rate limit is shown, and the event that it stops", async ({ page }) => {
  await answer(429, { "x-sentry-rate-limits": "10:error:key" });
  await page.goto("/test-events");
  await page.getByRole("button", { name: THROW }).click();
  await expect(outcomeOf(page, THROW)).toContainText("Rejected with 429");
  await expect(page.getByRole("region", { name: "Table: Sent by this browser" })).toContainText("no error for 10 s");
  await answer(200);
  await page.getByRole("button", { name: THROW }).click();
  await expect(outcomeOf(page, THROW)).toHaveText("Rate limited by the SDK: a rate limit is in force.");
});
