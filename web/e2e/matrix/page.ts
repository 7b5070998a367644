import { expect, type Page } from "@playwright/test";
import { open } from "../fixtures.ts";

/** Opens a page with a counter button and waits until it counts, which proves that React has hydrated it. */
export async function openRunning(page: Page, url: string): Promise<void> {
  await open(page, url);
  await page.getByRole("button", { name: "Clicked 0 times" }).click();
  await expect(page.getByRole("button", { name: "Clicked 1 times" })).toBeVisible();
}

/** The computed colour of an element. */
export const colourOf = (page: Page, selector: string) =>
  page.locator(selector).evaluate((element) => getComputedStyle(element).color);
