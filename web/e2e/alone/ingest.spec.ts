import type { Page } from "@playwright/test";
import type { Answer } from "../../../deploy/test/support/recorder/types.ts";
import { expect, outcomeOf, test } from "../fixtures.ts";
import { recorder } from "../stack.ts";

const WELL = { status: 200, headers: { "content-type": "application/json" }, body: "{}" };

async function ingestAnswers(answer: Partial<Answer>) {
  await recorder.answer({ ...WELL, ...answer });
}

test.beforeEach(({ watch }) => {
  test.setTimeout(90_000);
  watch.expectConsoleError(/status of (?:403|429|500|503)|Thrown on purpose|Minified React error #441/);
});
test.afterEach(async ({ page }) => {
  await ingestAnswers(WELL);
  await expectState(page, /^Every hop answers\.$/);
});

/** Loads the overview until it says so: the server asks the ingest at most every two seconds, the spool after 10 s at most. */
async function expectState(page: Page, words: RegExp, failing?: number) {
  await expect(async () => {
    await page.goto("/");
    await expect(page.getByRole("status", { name: "State of the path" })).toHaveText(words, { timeout: 1_000 });
    if (failing) await expect(page.getByText("fails", { exact: true })).toHaveCount(failing, { timeout: 1_000 });
  }).toPass({ timeout: 30_000 });
}

test("an ingest that does not know the key is named, with what to do", async ({ page }) => {
  await ingestAnswers({ status: 403 });
  await expectState(page, /The ingest answers 403: the key of SENTRY_DSN is unknown to it\. Copy the DSN anew/, 2);

  await page.goto("/test-events");
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await expect(outcomeOf(page, "Throw in the browser")).toContainText("Refused with 403");
});

test("an ingest that can't be reached is named, with what to do, and so is what waits for it", async ({ page }) => {
  await ingestAnswers({ instead: "reset" });
  await expectState(page, /The ingest takes no reports now: .* The spool keeps them; docker compose logs proxy/, 2);
  await page.goto("/test-events/server-exception");
  await expectState(page, /\d+ reports? waits? in the spool, the oldest for \d+ s\. They leave by themselves/);
});

test("a rate limit is shown, and what it holds back", async ({ page }) => {
  await ingestAnswers({ status: 429, headers: { "x-sentry-rate-limits": "10:error:key" } });
  await page.goto("/test-events");
  const button = page.getByRole("button", { name: "Throw in the browser" });
  await button.click();
  await expect(outcomeOf(page, "Throw in the browser")).toContainText("Refused with 429");
  await expect(page.getByRole("region", { name: "Table: Sent by this browser" })).toContainText("no error for 10 s");
  await ingestAnswers(WELL);
  await button.click();
  await expect(outcomeOf(page, "Throw in the browser")).toHaveText("Held back by the SDK: a rate limit is in force.");
});
