import { expect, open, outcomeOf, test } from "../fixtures.ts";
import { answering, hardened, type Lab, openLab, webImage } from "../test-network.ts";

const ID = "a".repeat(32);

let lab: Lab;
test.beforeEach(async () => {
  lab = await openLab();
});
test.afterEach(() => lab.close());

test("without a DSN the console says that nothing is reported, and no page names an event", async ({ page, watch }) => {
  test.setTimeout(90_000);
  const web = `http://127.0.0.1:${await lab.run("web", hardened, webImage, 3000)}`;
  watch.expectOrigin(web);
  watch.expectConsoleError(/Thrown on purpose|status of 500|Minified React error #441/);
  await answering(`${web}/healthz`);
  // As from a proxy.
  await page.setExtraHTTPHeaders({ "x-request-id": ID });
  const notice = page.getByRole("main").getByRole("alert");

  // Anew while a hop takes longer than the first view of the page waits for it.
  await expect(async () => {
    await open(page, `${web}/`);
    await expect(page.getByRole("status", { name: "State of the path" })).toHaveText(
      "Every hop of a request answers. Nothing is reported: SENTRY_DSN is not set.",
      { timeout: 3_000 },
    );
  }).toPass({ timeout: 60_000 });

  await open(page, `${web}/test-events`);
  await page.getByRole("button", { name: "Throw in a route handler" }).click();
  await expect(outcomeOf(page, "Throw in a route handler")).toHaveText("Answered 500.");
  await page.getByRole("button", { name: "Break this page" }).click();
  await expect(notice).toContainText(`Request id${ID}Event id–`);

  await open(page, `${web}/test-events/server-exception`);
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  await expect(notice).toContainText(`Request id${ID}Event id–`);
});
