import { examplePage } from "../../telemetry/cli/fixtures/apps.ts";
import { expect, test } from "../fixtures.ts";
import { testAnyApp } from "./any-app.ts";
import { type App, expectRevalidated, follow, openRunning, startApp } from "./apps.ts";

// Next 16, SDK 11, a pnpm monorepo, with what create-next-app and Sentry's wizard choose, and a base path.
let app: App;
let events: Promise<unknown>;
test.beforeAll(async ({ browser }) => {
  test.setTimeout(1_800_000);
  const files = { "app/sentry-example-page/page.jsx": examplePage("/shop/api/sentry-example-api") };
  app = await startApp("app-router", 80, files, "shop", "/shop");
  const page = await browser.newPage({ ignoreHTTPSErrors: true });
  await page.goto(`${app.base}/ppr`);
  events = page
    .evaluate(
      () =>
        new Promise((resolve) => {
          const data: string[] = [];
          const source = new EventSource("/shop/api/events");
          source.onmessage = (event) => data.push(event.data) === 2 && resolve(data);
          source.onerror = () => resolve("lost");
        }),
    )
    .catch(String);
});
test.afterAll(() => app?.type("docker compose down --volumes --timeout 0"));
test.beforeEach(({ allow }) => allow.origin(app.origin));

test("a prerendered page works with inline style and script, and its links navigate", async ({ page }) => {
  await openRunning(page, app.base);
  const colour = page.locator("main").evaluate((element) => getComputedStyle(element).color);
  expect(await colour).toBe("rgb(1, 2, 3)");
  await expect(page.locator("html")).toHaveAttribute("data-inline", "ran");
  await follow(page, "To the page in parts", "In parts");
});

test("a partially prerendered page works, with 20 kB of cookies, and gets no policy that it did not ask for", async ({
  page,
}) => {
  const cookie = (_: unknown, n: number) => ({ name: `c${n}`, value: "x".repeat(1_000), url: app.origin });
  await page.context().addCookies(Array.from({ length: 20 }, cookie));
  await openRunning(page, `${app.base}/ppr`);
  await expect(page.locator("#hole")).toHaveText("20 cookies, policy none");
});

test("a page is revalidated, and its PNG served as WebP", async ({ page }) => {
  const photo = page.waitForResponse(/\/shop\/_next\/image\?/);
  await openRunning(page, `${app.base}/isr`);
  expect([(await photo).status(), (await photo).headers()["content-type"]]).toEqual([200, "image/webp"]);
  await expectRevalidated(page);
});

test("a route handler redirects to the public origin", async ({ page }) => {
  await page.goto(`${app.base}/api/redirect`);
  expect(page.url()).toBe(`${app.base}/ppr`);
});

testAnyApp(() => app, "span");

test("an event stream goes on after 65 s of silence", async () => {
  expect(await events).toEqual(["before", "after"]);
});
