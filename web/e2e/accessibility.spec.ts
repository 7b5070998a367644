import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { app } from "./stack.ts";

test.beforeEach(({ allow }) => allow.consoleError(/Thrown on purpose|status of (404|500)|#441/));

async function expectNoViolations(page: Page) {
  // In the page itself: the default mode also opens a second page for each analysis, which only frames of other origins need.
  const axe = () => new AxeBuilder({ page }).setLegacyMode();
  await page.emulateMedia({ colorScheme: "light" });
  const light = await axe().analyze();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await axe().withRules("color-contrast").analyze();
  const found = [...light.violations, ...dark.violations];
  expect(found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(", ")}`)).toEqual([]);
}

for (const path of ["/", "/test-events", "/trace?header=nonsense", "/no-such-page", "/test-events/server-exception"])
  test(`axe finds nothing on ${path}, in light and in dark`, async ({ page }) => {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    // axe skips what is in a closed group.
    for (const group of await page.locator("details").all())
      await group.evaluate((one) => one.setAttribute("open", ""));
    await expectNoViolations(page);
  });

test("axe finds nothing on the error page of the root layout", async ({ page, context }) => {
  await context.addCookies([{ name: "culvert-broken-layout", value: "1", url: app.origin }]);
  await page.goto("/trace");
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  await expectNoViolations(page);
});
