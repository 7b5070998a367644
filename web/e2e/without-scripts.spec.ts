import { chromium, type Page } from "@playwright/test";
import { arrived, messageOf } from "./envelopes.ts";
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

/** Expects the texts of the error page, with the ids of the failed request. */
async function expectErrorPage(page: Page, id: string | undefined) {
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    "Application error: a server-side exception has occurred",
  );
  await expect(page.getByText(/^Digest: \d+$/)).toBeVisible();
  await expect(page.getByRole("main").getByRole("alert")).toContainText(`Request id${id}Event id${id}`);
  expect(await page.content()).not.toContain("Thrown on purpose");
  // The page has the app's style, which its policy allows.
  await expect(page.locator("body")).toHaveCSS("max-width", "992px");
}

for (const path of ["/test-events/server-exception", "/test-events/both-sides"]) {
  test(`an exception while rendering ${path} shows the error page`, async ({ plain }) => {
    const response = await plain.goto(path);
    expect(response?.status()).toBe(500);
    const id = response?.headers()["x-request-id"];
    await expectErrorPage(plain, id);
    await expect(plain.locator('meta[name="robots"]')).toHaveAttribute("content", /noindex/);
    await arrived("event", (event) => event.item.payload.event_id === id);
    const again = plain.waitForResponse((response) => response.url().endsWith(path));
    await plain.getByRole("link", { name: "Try again" }).click();
    expect((await again).headers()["x-request-id"]).not.toBe(id);
    await plain.getByRole("link", { name: "Back to the overview" }).click();
    await expect(plain.getByRole("heading", { level: 1 })).toHaveText("This deployment is up");
  });
}

for (const where of ["a server action", "a route handler"]) {
  test(`so does an exception in ${where}`, async ({ plain }) => {
    await plain.goto("/test-events");
    const posted = plain.waitForResponse((response) => response.request().method() === "POST");
    await plain.getByRole("button", { name: `Throw in ${where}` }).click();
    const response = await posted;
    expect(response.status()).toBe(500);
    const id = response.headers()["x-request-id"];
    await expect(plain.getByRole("heading", { level: 1 })).toHaveText(/server-side exception/);
    await expect(plain.getByRole("alert")).toContainText(`Request id${id}Event id${id}`);
    const event = await arrived("event", (event) => event.item.payload.event_id === id);
    expect(messageOf(event)).toContain(`Thrown on purpose in ${where}`);
  });
}

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
