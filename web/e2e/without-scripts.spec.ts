import { chromium, type Page } from "@playwright/test";
import { test as base, expect } from "./fixtures.ts";
import { app } from "./stack.ts";

/** A page of a browser with scripts turned off in its settings. Unlike Playwright's option, this also shows <noscript>. */
const test = base.extend<{ plain: Page }>({
  plain: async ({ launchOptions }, use) => {
    const args = [...(launchOptions.args ?? []), "--blink-settings=scriptEnabled=false"];
    const browser = await chromium.launch({ ...launchOptions, args });
    await use(await browser.newPage({ baseURL: app.origin, ignoreHTTPSErrors: true }));
    await browser.close();
  },
});

test("the overview says that the browser's checks need JavaScript", async ({ plain }) => {
  await plain.goto("/?wait");
  expect(await plain.getByRole("main").innerText()).toContain("The checks of the browser need JavaScript");
});

base("with JavaScript there is one error page, not two", async ({ page, allow }) => {
  allow.consoleError(/status of 500|Minified React error #441/);
  await page.goto("/test-events/server-exception");
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toHaveCount(1);
});
