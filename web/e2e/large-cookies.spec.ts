import { expect, test } from "./fixtures.ts";
import { app } from "./stack.ts";

test("a user whose cookies are too large for the app can clear them", async ({ page, context, allow }) => {
  allow.consoleError(/status of 431/);
  const cookies = Array.from({ length: 6 }, (_, n) => ({ name: `c${n}`, value: "x".repeat(3_900), url: app.origin }));
  await context.addCookies(cookies);
  expect((await page.goto("/trace"))?.status()).toBe(431);
  await expect(page.getByRole("heading")).toHaveText("This site’s cookies are too large");
  // Only the click clears them.
  expect(await context.cookies()).toHaveLength(6);
  await page.getByRole("button", { name: "Clear this site’s cookies" }).click();
  await expect(page).toHaveURL(`${app.origin}/`);
  expect(await context.cookies()).toEqual([]);
  expect((await page.goto("/trace"))?.status()).toBe(200);
});
