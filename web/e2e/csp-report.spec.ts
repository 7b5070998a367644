import { readFileSync } from "node:fs";
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

test("a style with the nonce that docs/your-app.md reads is applied, one without it is not", async ({
  page,
  allow,
}) => {
  allow.consoleError(/Content Security Policy/);
  const document = readFileSync(`${import.meta.dirname}/../../docs/your-app.md`, "utf8");
  const [, read = ""] = /const nonce = (document\..+);/.exec(document) ?? [];
  await page.goto("/");
  const applied = await page.evaluate(`[${read.replace("<HTMLScriptElement>", "")}, ""].map((nonce) => {
    const style = Object.assign(document.createElement("style"), { textContent: "h1 { color: red }", nonce });
    document.head.append(style);
    return style.sheet !== null;
  })`);
  expect(applied).toEqual([true, false]);
});
