import { readFileSync } from "node:fs";
import { expect, open, outcomeOf, test } from "./fixtures.ts";
import { isolated } from "./network/namespace.ts";
import { app, recorder } from "./stack.ts";

// The headless shell sends no reports to the endpoint of `report-to`; the Chromium beside it does.
const CHROMIUM_PATH = process.env.CHROMIUM_PATH?.replace(/-headless-shell$/, "");
const chromium = CHROMIUM_PATH
  ? { executablePath: isolated?.executablePath ?? CHROMIUM_PATH, env: { ...process.env, CHROMIUM_PATH } }
  : { channel: "chromium" };
test.use({ launchOptions: ({ launchOptions }, use) => use({ ...launchOptions, ...chromium }) });

const document = readFileSync(`${import.meta.dirname}/../../docs/your-app.md`, "utf8");
const [, nonce] = /const nonce = (document.+);/.exec(document.replace("<HTMLScriptElement>", "")) ?? [];

test("a page without a static shell has the policy's nonce in each script; one with a shell has a policy that stops none", async ({
  request,
}) => {
  const policyOf = async (path: string) => {
    const response = await request.get(path, { headers: { accept: "text/html" } });
    const policy = response.headers()["content-security-policy"] ?? "";
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
    return { policy, nonce, scripts: (await response.text()).match(/<script[^>]*>/g) ?? [] };
  };
  const [strict, again] = [await policyOf("/test-events"), await policyOf("/test-events")];
  expect(strict.policy).toContain("'strict-dynamic'");
  expect(strict.scripts).not.toEqual([]);
  expect(strict.scripts.filter((script) => !script.includes(`nonce="${strict.nonce}"`))).toEqual([]);
  expect(again.nonce).not.toBe(strict.nonce);
  for (const path of ["/", "/trace"])
    expect((await policyOf(path)).policy).toMatch(/^img-src (?!.*(?:script|default)-src).*object-src 'none'/);
});

test("a policy violation is blocked, and its CSP report is sent through the tunnel; a documented nonce is accepted", async ({
  page,
  allow,
}) => {
  allow.consoleError(/Content Security Policy/);
  const mark = await recorder.count();
  await open(page, "/test-events");
  await page.getByRole("button", { name: "Violate the policy" }).click();
  await expect(outcomeOf(page, "Violate the policy")).toHaveText("Blocked: style-src-attr.");
  const report = await recorder.waitFor((request) => {
    const body = Buffer.from(request.body, "base64").toString();
    return request.url.includes("/security/") && body.includes("style-src-attr") ? request : undefined;
  }, mark);
  const style = `Object.assign(document.createElement("style"), { textContent: "h1 { color: red }", nonce: ${nonce} })`;
  expect(await page.evaluate(`document.head.appendChild(${style}).sheet !== null`)).toBe(true);
  expect(report.url).toMatch(/\/api\/1\/security\/\?sentry_key=culvert$/);
  expect(Buffer.from(report.body, "base64").toString()).toContain(`${app.origin}/test-events`);
});
