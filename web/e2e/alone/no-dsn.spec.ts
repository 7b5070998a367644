import { answering, hardened, type Lab, openLab, webImage } from "../lab.ts";
import { expect, outcomeOf, test } from "../visitor.ts";

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
  watch.expectConsoleError(/Thrown on purpose|status of 500|Minified React error #441|ERR_NETWORK_CHANGED/);
  await answering(`${web}/healthz`);
  // As from a proxy.
  await page.setExtraHTTPHeaders({ "x-request-id": ID });
  /** Anew when the machine's network changed meanwhile, or a hop took longer than the first view of a page waits for it. */
  const open = (path: string, shows: () => Promise<void>) =>
    expect(async () => {
      await page.goto(`${web}${path}`);
      await shows();
    }).toPass({ timeout: 30_000 });
  const notice = page.getByRole("main").getByRole("alert");

  await open("/", () =>
    expect(page.getByRole("status", { name: "State of the path" })).toHaveText(
      "Every hop of a request answers. Nothing is reported: SENTRY_DSN is not set.",
      { timeout: 3_000 },
    ),
  );
  await open("/signals", async () => {
    await page.getByRole("button", { name: "Throw in a route handler" }).click();
    await expect(outcomeOf(page, "Throw in a route handler")).toHaveText("Answered 500.", { timeout: 3_000 });
    await page.getByRole("button", { name: "Break this page" }).click();
    await expect(notice).toContainText(`Request id${ID}Event id–`, { timeout: 3_000 });
  });
  await open("/signals/server-exception", async () => {
    await expect(page.getByRole("button", { name: "Try again" })).toBeVisible({ timeout: 3_000 });
    await expect(notice).toContainText(`Request id${ID}Event id–`);
  });
});
