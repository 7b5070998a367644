import type { Page } from "@playwright/test";
import type { Answer } from "../../../deploy/test/support/recorder/types.ts";
import { expect, outcomeOf, test } from "../fixtures.ts";
import { recorder } from "../stack.ts";

const OK = { status: 200, headers: { "content-type": "application/json" }, body: "{}" };

async function setIngestResponse(answer: Partial<Answer>) {
  await recorder.answer({ ...OK, ...answer });
}

test.beforeEach(({ allow }) => {
  allow.consoleError(/status of (?:403|429)|Thrown on purpose/);
});
test.afterEach(async ({ page }) => {
  await setIngestResponse(OK);
  await expectState(page, /^Every hop responds\.$/);
});

/** Opens the overview and waits until it shows this state, without a reload: the server checks every two seconds. */
async function expectState(page: Page, message: RegExp, failing?: number) {
  await page.goto("/");
  await expect(page.getByRole("status", { name: "State of the path" })).toHaveText(message);
  if (failing) await expect(page.getByText("fails", { exact: true })).toHaveCount(failing);
}

test("an ingest that does not know the key is shown, with a fix", async ({ page }) => {
  await setIngestResponse({ status: 403 });
  await expectState(
    page,
    /The ingest responds with 403: it does not know the key of SENTRY_DSN\. Copy the DSN again/,
    2,
  );

  await page.goto("/test-events");
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await expect(outcomeOf(page, "Throw in the browser")).toContainText("Rejected with 403");
});

test("a rate limit is shown, and the event that it stops", async ({ page }) => {
  await setIngestResponse({ status: 429, headers: { "x-sentry-rate-limits": "10:error:key" } });
  await page.goto("/test-events");
  const button = page.getByRole("button", { name: "Throw in the browser" });
  await button.click();
  await expect(outcomeOf(page, "Throw in the browser")).toContainText("Rejected with 429");
  await expect(page.getByRole("region", { name: "Table: Sent by this browser" })).toContainText("no error for 10 s");
  await setIngestResponse(OK);
  await button.click();
  await expect(outcomeOf(page, "Throw in the browser")).toHaveText(
    "Rate limited by the SDK: a rate limit is in force.",
  );
});
