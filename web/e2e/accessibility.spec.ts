import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { app } from "./stack.ts";

/** Each page, and the console error that it always causes. */
const PAGES = {
  "/": undefined,
  "/test-events": undefined,
  "/trace": undefined,
  "/trace?header=nonsense": undefined,
  "/no-such-page": /status of 404/,
  "/test-events/server-exception": /status of 500|#441/,
};

/** Axe in the page itself: the default mode also opens a second page for each analysis, which only frames of other origins need. */
const axe = (page: Page) => new AxeBuilder({ page }).setLegacyMode();

async function expectNoViolations(page: Page) {
  await page.emulateMedia({ colorScheme: "light" });
  const light = await axe(page).analyze();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await axe(page).withRules("color-contrast").analyze();
  const found = [...light.violations, ...dark.violations];
  expect(found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(", ")}`)).toEqual([]);
}

for (const [path, error] of Object.entries(PAGES)) {
  test(`axe finds nothing on ${path}, in light and in dark`, async ({ page, allow }) => {
    if (error) allow.consoleError(error);
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expectNoViolations(page);
  });
}

test("axe finds nothing on the error page of a component and of the root layout", async ({ page, allow }) => {
  allow.consoleError(/Thrown on purpose|status of 500|#441/);
  await page.goto("/test-events");
  await page.getByRole("button", { name: "Throw in a component" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(/client-side exception/);
  await expectNoViolations(page);
  await page.context().addCookies([{ name: "culvert-broken-layout", value: "1", url: app.origin }]);
  await page.goto("/trace");
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  await expect(page).toHaveTitle("Application error");
  await expectNoViolations(page);
});
