import { expect, open, outcomeOf, test } from "./fixtures.ts";
import { createTestNetwork, hardened, type TestNetwork, waitUntilUp, webImage } from "./test-network.ts";

const ID = "a".repeat(32);

let network: TestNetwork;
test.beforeEach(async () => {
  network = await createTestNetwork();
});
test.afterEach(() => network.close());

test("without a DSN the console says that no events are sent, and no page shows an event id", async ({
  page,
  allow,
}) => {
  const web = `http://127.0.0.1:${await network.run("web", [...hardened, webImage], 3000)}`;
  allow.origin(web);
  allow.consoleError(/Thrown on purpose|status of 500|Minified React error #441/);
  await waitUntilUp(`${web}/healthz`);
  // As from a proxy.
  await page.setExtraHTTPHeaders({ "x-request-id": ID });
  const notice = page.getByRole("main").getByRole("alert");

  // Retried while a hop takes longer than the first page view waits for it.
  await expect(async () => {
    await open(page, `${web}/`);
    await expect(page.getByRole("status", { name: "State of the path" })).toHaveText(
      "Every hop of a request responds. No events are sent, because SENTRY_DSN is not set.",
      { timeout: 3_000 },
    );
  }).toPass({ timeout: 180_000 });

  await open(page, `${web}/test-events`);
  await page.getByRole("button", { name: "Throw in a route handler" }).click();
  await expect(outcomeOf(page, "Throw in a route handler")).toHaveText("Status 500.");
  await page.getByRole("button", { name: "Throw in a component" }).click();
  await expect(notice).toContainText(`Request id${ID}Event id–`);

  await open(page, `${web}/test-events/server-exception`);
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  await expect(notice).toContainText(`Request id${ID}Event id–`);
});
