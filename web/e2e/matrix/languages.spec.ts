import { expect, test } from "./apps.ts";

test.use({ locale: "de-DE" });

test("next-intl: the browser's language, on the public origin, and a link to the other one", async ({
  page,
  allow,
  apps,
}) => {
  const { origin } = apps.wizard;
  allow.origin(origin);
  const response = await page.goto(origin);
  expect(page.url()).toBe(`${origin}/de`);
  // What search engines read.
  expect(response?.headers().link).toContain(`<${origin}/en>; rel="alternate"; hreflang="en"`);
  await expect(page.getByRole("heading", { name: "Eine fremde App" })).toBeVisible();
  await page.getByRole("link", { name: "In English" }).click();
  await expect(page.getByRole("heading", { name: "A foreign app" })).toBeVisible();
  // The choice is kept.
  await page.goto(origin);
  expect(page.url()).toBe(`${origin}/en`);
});
