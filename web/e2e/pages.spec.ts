import { expect, test } from "./visitor.ts";

test("the overview tells what runs here, anew for every request", async ({ page }) => {
  const term = (name: string) => page.locator("dt", { hasText: name }).locator("+ dd");
  const response = await page.goto("/");
  await expect(term("Release")).toHaveText("culvert@test");
  await expect(term("Environment")).toHaveText("production");
  const id = await term("Request id").textContent();
  expect(id).toBe(response?.headers()["x-request-id"]);
  await page.reload();
  await expect(term("Request id")).not.toHaveText(id ?? "");
});

test("a link navigates in the browser, without loading a document", async ({ page }) => {
  await page.goto("/");
  const documents: string[] = [];
  page.on("request", (request) => request.resourceType() === "document" && documents.push(request.url()));
  await page.getByRole("link", { name: "Trace", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("The trace of this page view");
  expect(documents).toEqual([]);
});

test("a redirect ends at its target", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("link", { name: "Follow a redirect" }).click();
  await expect(page).toHaveURL(/\/trace$/);
});

test("a missing page says so", async ({ page, watch }) => {
  watch.expectConsoleError(/status of 404/);
  await page.goto("/no-such-page");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Page not found");
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a form posts its server action to the page's own address", async ({ page }) => {
      await page.goto("/");
      const posted = page.waitForRequest(
        (request) => request.method() === "POST" && !request.url().includes("/monitoring"),
      );
      await page.getByRole("textbox", { name: "Say something" }).fill("hello proxy");
      await page.getByRole("button", { name: "Send to the server" }).click();
      await expect(page.getByRole("status", { name: "Answer" })).toContainText("hello proxy");
      expect(new URL((await posted).url()).pathname).toBe("/");
    });

    test("links lead to the trace page and back", async ({ page }) => {
      await page.goto("/");
      await page.getByRole("link", { name: "Trace", exact: true }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("The trace of this page view");
      await page.getByRole("link", { name: "Overview", exact: true }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("This deployment is up");
    });
  });
}
