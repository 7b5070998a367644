import { pagesRouter } from "../../telemetry/cli/fixtures/apps.ts";
import { expect, test } from "../fixtures.ts";
import { testAnyApp } from "./any-app.ts";
import { type App, expectRevalidated, follow, openRunning, startApp } from "./apps.ts";

// Next 15 and SDK 10, locked by yarn, with `i18n`, `trailingSlash` and a middleware that rewrites most paths.
let app: App;
test.beforeAll(async () => {
  test.setTimeout(1_800_000);
  app = await startApp("pages-router", 100, pagesRouter("js"));
});
test.afterAll(() => app?.type("docker compose down --volumes --timeout 0"));
test.beforeEach(({ allow }) => allow.origin(app.origin));

test("a prerendered page works, with its styles, in each language, and is revalidated", async ({ page }) => {
  await openRunning(page, `${app.base}/de/`);
  await expect(page.getByRole("heading", { name: "Hallo" })).toBeVisible();
  expect(await page.locator("#made").evaluate((element) => getComputedStyle(element).color)).toBe("rgb(4, 5, 6)");
  await expectRevalidated(page);
});

test("a link navigates by a data request to a server-rendered page, which knows the public host", async ({ page }) => {
  await openRunning(page, `${app.base}/`);
  const data = page.waitForResponse(/\/_next\/data\/[^/]+\/en\/ssr\.json/);
  await follow(page, "To the other page", `Rendered for ${new URL(app.origin).host} in en`);
  expect((await data).status()).toBe(200);
});

test("Next's redirect to a slash, and that of a middleware, stay on the public origin", async ({ page }) => {
  await page.goto(`${app.base}/old`);
  expect(page.url()).toBe(`${app.base}/ssr/`);
  await openRunning(page, page.url());
});

for (const [path, status] of [
  ["broken", 500],
  ["nowhere", 404],
] as const)
  test(`a page with status ${status} is the app's own error page`, async ({ page, allow }) => {
    allow.consoleError(/status of (404|500)/);
    expect((await page.goto(`${app.base}/${path}/`))?.status()).toBe(status);
    await expect(page.getByRole("heading", { name: `Failed with ${status}` })).toBeVisible();
  });

testAnyApp(() => app, "transaction");
