import { AxeBuilder } from "@axe-core/playwright";
import { expect, test } from "./fixtures.ts";
import { app } from "./stack.ts";

const PAGES = ["/", "/test-events", "/trace?header=nonsense", "/no-such-page", "/test-events/server-exception"];
const ROOT = "the error page of the root layout";

for (const name of [...PAGES, ROOT])
  test(`axe finds nothing on ${name}, in light and, on a phone, in dark`, async ({ page, context, allow }) => {
    allow.consoleError(/Thrown on purpose|status of (404|500)|#441/);
    if (name === ROOT) await context.addCookies([{ name: "culvert-broken-layout", value: "1", url: app.origin }]);
    await page.goto(name === ROOT ? "/trace" : name);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    // axe skips what is in a closed group.
    for (const group of await page.locator("details").all())
      await group.evaluate((element) => element.setAttribute("open", ""));
    // In the page itself: only frames of other origins need the second page that the default mode opens.
    const axe = () => new AxeBuilder({ page }).setLegacyMode();
    await page.emulateMedia({ colorScheme: "light" });
    const light = await axe().analyze();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 390, height: 844 });
    const dark = await axe().analyze();
    const found = [...light.violations, ...dark.violations];
    expect(found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(", ")}`)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), "no sideways scrolling").toBe(390);
  });
