import { expect, outcomeOf, test } from "./fixtures.ts";
import { isolated } from "./network/namespace.ts";
import { app, recorder } from "./stack.ts";

// The headless shell sends no reports to the endpoint of `report-to`; the Chromium beside it does.
const CHROMIUM_PATH = process.env.CHROMIUM_PATH?.replace(/-headless-shell$/, "");
const own = CHROMIUM_PATH
  ? { executablePath: isolated?.executablePath ?? CHROMIUM_PATH, env: { ...process.env, CHROMIUM_PATH } }
  : { channel: "chromium" };
test.use({ launchOptions: ({ launchOptions }, use) => use({ ...launchOptions, ...own }) });

test("a policy violation is blocked, and its CSP report is sent through the tunnel", async ({ page, allow }) => {
  allow.consoleError(/Content Security Policy/);
  const mark = await recorder.count();
  await page.goto("/test-events");
  await page.getByRole("button", { name: "Violate the policy" }).click();
  await expect(outcomeOf(page, "Violate the policy")).toHaveText("Blocked: style-src-attr.");
  const report = await recorder.waitFor((request) => {
    const body = Buffer.from(request.body, "base64").toString();
    return request.url.includes("/security/") && body.includes("style-src-attr") ? request : undefined;
  }, mark);
  expect(report.url).toMatch(/\/api\/1\/security\/\?sentry_key=culvert$/);
  expect(Buffer.from(report.body, "base64").toString()).toContain(`${app.origin}/test-events`);
});
