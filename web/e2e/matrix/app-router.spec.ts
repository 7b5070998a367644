import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "./apps.ts";
import { colourOf, openRunning } from "./page.ts";

let base: string;
test.beforeEach(({ apps, allow }) => {
  base = `${apps.appRouter.origin}/shop`;
  allow.origin(apps.appRouter.origin);
});

test("a prerendered page works: inline styles, styled-jsx, an inline script", async ({ page }) => {
  await openRunning(page, base);
  expect(await colourOf(page, "main")).toBe("rgb(1, 2, 3)");
  expect(await colourOf(page, "#styled")).toBe("rgb(4, 5, 6)");
  await expect(page.locator("html")).toHaveAttribute("data-inline", "ran");
});

test("a script of another origin runs", async ({ page, allow }) => {
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "text/javascript").end("document.documentElement.dataset.thirdParty = 'ran'");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  allow.origin(origin);
  await openRunning(page, `${base}?third-party=${origin}/script.js`);
  await expect(page.locator("html")).toHaveAttribute("data-third-party", "ran");
  server.close();
});

test("a partially prerendered page works, and gets no policy that it did not ask for", async ({ page }) => {
  await page.context().addCookies([{ name: "session", value: "12345", url: base }]);
  await openRunning(page, `${base}/ppr`);
  await expect(page.locator("#cookies")).toHaveText("5");
  await expect(page.locator("#policy")).toHaveText("none");
});

test("links navigate without a page load", async ({ page }) => {
  await openRunning(page, base);
  await page.evaluate(() => Object.assign(window, { isSame: true }));
  await page.getByRole("link", { name: "To the page in parts" }).click();
  await expect(page.getByRole("heading", { name: "In parts" })).toBeVisible();
  expect(await page.evaluate(() => "isSame" in window)).toBe(true);
});

test("a revalidated page is rendered again", async ({ page }) => {
  await openRunning(page, `${base}/isr`);
  const made = await page.locator("#made").textContent();
  await expect(async () => {
    await page.reload();
    expect(await page.locator("#made").textContent()).not.toBe(made);
  }).toPass({ timeout: 180_000 });
});

test("a PNG is served as WebP", async ({ page }) => {
  const isPhoto = /\/shop\/_next\/image\?/;
  const [response] = await Promise.all([page.waitForResponse(isPhoto), page.goto(`${base}/image`)]);
  expect([response.status(), response.headers()["content-type"]]).toEqual([200, "image/webp"]);
  const width = () => page.getByAltText("Waves").evaluate((image: HTMLImageElement) => image.naturalWidth);
  await expect.poll(width).toBeGreaterThan(0);
});

test("a server action works", async ({ page }) => {
  // Before hydration, too: then the browser posts the form itself.
  await page.goto(`${base}/form`);
  await page.getByLabel("Name").fill("Ada");
  await page.getByRole("button", { name: "Greet" }).click();
  await expect(page.getByText("Hello Ada")).toBeVisible();
});

test("an upload of 40 MB is accepted", async ({ page }) => {
  await openRunning(page, base);
  const upload = async (bytes: number) =>
    (await fetch("/shop/api/upload", { method: "POST", body: new Uint8Array(bytes) })).json();
  expect(await page.evaluate(upload, 40 << 20)).toEqual({ bytes: 40 << 20 });
});

test("a route handler redirects to the public origin", async ({ page }) => {
  await page.goto(`${base}/api/redirect`);
  expect(page.url()).toBe(`${base}/ppr`);
});

test("16 kB of cookies are set and sent", async ({ page }) => {
  await page.goto(`${base}/api/cookies`);
  await openRunning(page, `${base}/ppr`);
  await expect(page.locator("#cookies")).toHaveText("16000");
});
