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

for (const path of ["/", "/test-events", "/trace"]) {
  test(`${path} fits a phone: no content is wider than the screen, and axe finds nothing`, async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    const [contentWidth, screenWidth] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(contentWidth).toBeLessThanOrEqual(screenWidth);
    const { violations } = await axe(page).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(", ")}`)).toEqual([]);
  });
}

test("every control of the test events page can be reached and pressed by keyboard", async ({ page }) => {
  await page.goto("/test-events");
  await page.evaluate(() => {
    const pressed: (string | null)[] = [];
    Object.assign(window, { pressed });
    // Other tests cover the effects of a press.
    const note = (event: Event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
      pressed.push((event.target as Element).textContent);
    };
    window.addEventListener("click", note, { capture: true });
  });
  const controls = await page.locator("a[href], button").allTextContents();
  const outside = () => document.activeElement === document.body;
  do {
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
  } while (!(await page.evaluate(outside)));
  expect(controls.length).toBeGreaterThan(20);
  expect(await page.evaluate(() => (window as unknown as { pressed: string[] }).pressed)).toEqual(controls);
});
