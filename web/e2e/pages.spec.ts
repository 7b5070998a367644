import { expect, test } from "./fixtures.ts";

test("the overview shows what is running, rendered for every request", async ({ page }) => {
  const term = (name: string) => page.locator("dt", { hasText: name }).locator("+ dd");
  const response = await page.goto("/");
  await expect(term("Release")).toHaveText("culvert@test");
  await expect(term("Environment")).toHaveText("production");
  await expect(term("Region")).toHaveText("test-1");
  await expect(term("Up for")).toHaveText(/^\d/);
  const id = await term("Request id").textContent();
  expect(id).toBe(response?.headers()["x-request-id"]);
  await page.reload();
  await expect(term("Request id")).not.toHaveText(id ?? "");
});

test("the overview shows that every hop responds, with its latency", async ({ page }) => {
  test.setTimeout(60_000);
  const state = page.getByRole("status", { name: "State of the path" });
  // Retried while a hop takes longer than the page waits for it, as its first check may.
  await expect(async () => {
    await page.goto("/");
    await expect(state).toHaveText("Every hop responds.", { timeout: 2_000 });
  }).toPass({ timeout: 180_000 });
  await expect(page.getByText(/^responds [\d.]+ ms$/)).toHaveCount(6);
  await page.getByRole("button", { name: "Check again" }).click();
  await expect(state).toHaveText("Every hop responds.");
});

test("a link navigates in the browser, without loading a document", async ({ page }) => {
  await page.goto("/");
  const documents: string[] = [];
  page.on("request", (request) => request.resourceType() === "document" && documents.push(request.url()));
  for (const [link, heading] of [
    ["Test events", "Test events"],
    ["Trace", "The trace of this page view"],
    ["Overview", "This deployment is up"],
  ] as const) {
    await page.getByRole("link", { name: link, exact: true }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
  }
  expect(documents).toEqual([]);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("links lead to every page", async ({ page }) => {
    await page.goto("/");
    await page.getByRole("link", { name: "Test events", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Test events");
    await page.getByRole("link", { name: "Trace", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("The trace of this page view");
  });

  test("the overview shows the server's checks, and can wait for them", async ({ page }) => {
    // Retried while a check times out, as it may on a busy machine.
    await expect(async () => {
      await page.goto("/?wait");
      // From the proxy to web, from web to the ingest and to the upstream.
      await expect(page.getByText(/^responds [\d.]+ ms$/)).toHaveCount(3, { timeout: 3_000 });
    }).toPass({ timeout: 180_000 });
    // Playwright's Chromium without scripts still parses <noscript> as if scripts were on.
    expect(await page.content()).toContain("The checks of the browser need JavaScript");
  });

  test("a form posts its server action to the page's own address and shows its message", async ({ page }) => {
    await page.goto("/test-events");
    const posted = page.waitForRequest((request) => request.method() === "POST");
    await page.getByRole("button", { name: "Call the upstream" }).click();
    expect(new URL((await posted).url()).pathname).toBe("/test-events");
    await expect(page.getByLabel("Outcome: Call the upstream")).toHaveText(
      /^upstream:9000 received trace [0-9a-f]{32}\.$/,
    );
  });

  test("the server's send outcomes are listed, its own error among them", async ({ page, request }) => {
    const id = (await request.get("/test-events/server-exception")).headers()["x-request-id"] ?? "";
    await expect(async () => {
      await page.goto("/test-events");
      await expect(page.getByRole("region", { name: "Table: Sent by this server" })).toContainText(id, {
        timeout: 2_000,
      });
    }).toPass({ timeout: 180_000 });
  });
});
