import { expect, open, outcomeOf, test } from "../fixtures.ts";
import { recorder } from "../stack.ts";

const THROW = "Throw in the browser";
const answer = (status: number) =>
  recorder.answer({ status, headers: { "content-type": "application/json" }, body: "{}" });

test.afterEach(async ({ page }) => {
  await answer(200);
  await page.goto("/");
  await expect(page.getByRole("status", { name: "State of the path" })).toHaveText(/^Every hop responds/);
});

test("an ingest that does not know the key is shown, with a fix", async ({ page, allow }) => {
  allow.consoleError(/status of 403|Thrown on purpose/);
  const state = page.getByRole("status", { name: "State of the path" });
  await answer(403);
  await page.goto("/");
  // Without a reload: the server checks every two seconds.
  await expect(state).toHaveText(
    /^2 hops fail.*responds with 403: it does not know the key of SENTRY_DSN\. Copy the DSN again/,
  );
  await expect(page.getByText("fails", { exact: true })).toHaveCount(2);
  await open(page, "/test-events");
  await page.getByRole("button", { name: THROW }).click();
  await expect(outcomeOf(page, THROW)).toContainText("Rejected with 403");
});
