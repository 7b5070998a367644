import { expect, test } from "./apps.ts";
import { colourOf, openRunning } from "./page.ts";

let base: string;
test.beforeEach(({ apps, allow }) => {
  base = apps.pagesRouter.origin;
  allow.origin(apps.pagesRouter.origin);
});

test("a prerendered page works, with its styles, and is revalidated", async ({ page }) => {
  await openRunning(page, `${base}/`);
  expect([await colourOf(page, "h1"), await colourOf(page, "#made")]).toEqual(["rgb(1, 2, 3)", "rgb(4, 5, 6)"]);
  const made = await page.locator("#made").textContent();
  await expect(async () => {
    await page.reload();
    expect(await page.locator("#made").textContent()).not.toBe(made);
  }).toPass({ timeout: 180_000 });
});

test("each language has its page", async ({ page }) => {
  await openRunning(page, `${base}/de/`);
  await expect(page.getByRole("heading", { name: "Hallo" })).toBeVisible();
});

test("a server-rendered page works, and knows the public host", async ({ page, apps }) => {
  await openRunning(page, `${base}/ssr/`);
  const { host } = new URL(apps.pagesRouter.origin);
  await expect(page.getByRole("heading", { name: `Rendered for ${host} in en` })).toBeVisible();
});

test("links navigate by a data request, without a page load", async ({ page }) => {
  await openRunning(page, `${base}/`);
  await page.evaluate(() => Object.assign(window, { isSame: true }));
  const data = page.waitForResponse(/\/_next\/data\/[^/]+\/en\/ssr\.json/);
  await page.getByRole("link", { name: "To the other page" }).click();
  expect((await data).status()).toBe(200);
  await expect(page.getByRole("heading", { name: /^Rendered for/ })).toBeVisible();
  expect(await page.evaluate(() => "isSame" in window)).toBe(true);
});

test("a missing slash is redirected on the same origin", async ({ page }) => {
  await page.goto(`${base}/ssr`);
  expect(page.url()).toBe(`${base}/ssr/`);
});

for (const [what, path, status] of [
  ["a page that fails", "broken", 500],
  ["a page that does not exist", "nowhere", 404],
] as const) {
  test(`${what} shows the app's own error page`, async ({ page, allow }) => {
    allow.consoleError(/status of (404|500)/);
    expect((await page.goto(`${base}/${path}/`))?.status()).toBe(status);
    await expect(page.getByRole("heading", { name: `Failed with ${status}` })).toBeVisible();
  });
}
