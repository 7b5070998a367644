import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import type { APIRequestContext, Page } from "@playwright/test";
import { root } from "../../../deploy/test/support/docker.ts";
import { type Fixture, fixtures, pagesRouter, writeFixture } from "../../telemetry/cli/fixtures/apps.ts";
import { expect, open, test } from "../fixtures.ts";
import { arrivedAt, cloneThis, otherStack } from "../stack.ts";
import { continued, expectOneTracePerPageLoad, kindsIn, withKinds } from "./page-loads.ts";

const [, section = ""] = readFileSync(`${root}/docs/your-app.md`, "utf8").split(/^## /m);
const commands = section.match(/(?<=^ {4})\S.*/gm) ?? [];

// An empty folder, and in it the app. Its name is that of the cache of its builds, so this one is empty, too.
const folder = mkdtempSync(join(tmpdir(), "culvert-app-"));
const name = `shop-${folder.slice(-6).toLowerCase()}`;
let app = join(folder, "shop");
const environment = otherStack(60, {
  COMPOSE_FILE: undefined,
  COMPOSE_ENV_FILES: undefined,
  HTTPS_PORT: undefined,
  HTTP_PORT: undefined,
  // A make below another one prints its folder.
  MAKELEVEL: undefined,
  SENTRY_ENVIRONMENT: "shop-test",
  // As everywhere: without addresses in the lockfile, npm asks for each package first.
  npm_config_omit_lockfile_registry_resolved: "false",
  ...cloneThis,
});
environment.CULVERT_IMAGES = environment.COMPOSE_PROJECT_NAME;

/** Types a command line. `init` gets a terminal, in which each question is answered with yes. */
async function type(command: string, cwd = app): Promise<string> {
  const [file, ...words] = command.endsWith(" init") ? ["script", "-qec", command, "/dev/null"] : ["sh", "-c", command];
  const typed = promisify(execFile)(file, words, { cwd, env: environment, maxBuffer: 64 << 20 });
  typed.child.stdin?.end("y\n");
  const { stdout } = await typed.catch(({ stdout, stderr }) => {
    throw new Error(`${command}: ${stdout}${stderr}`);
  });
  return stdout;
}
const compose = (command: string) => type(`docker compose --project-directory culvert ${command}`);

let [origin, ingest] = ["", ""];
const arrived = (...words: string[]) => arrivedAt(ingest, '"exception"', ...words);
const field = (event: string, name: string) => new RegExp(`"${name}":"([^"]*)"`).exec(event)?.[1];

async function typeAll(lines: string[], from: string): Promise<string> {
  let [cwd, output] = [from, ""];
  for (const command of lines.flatMap((line) => line.split(" && "))) {
    // In a CI, pnpm would want a lockfile that fits.
    const once = command.replace(/^pnpm install$/, "npx --yes pnpm@10.34.8 install --no-frozen-lockfile");
    if (command.startsWith("cd ")) cwd = join(cwd, command.slice(3));
    else output += await type(once, cwd);
  }
  return output;
}

const addressesIn = (output: string) =>
  /app is then at (\S+), its errors and traces at (\S+)/.exec(output)?.slice(1) ?? [];

async function expectOneTrace(page: Page, name = "sentry-example") {
  await open(page, `${origin}/${name}-page`);
  const response = page.waitForResponse(`${origin}/api/${name}-api`);
  await page.getByRole("button", { name: "Throw Sample Error" }).click();
  const browser = await arrived("raised on the frontend", `${name}-page`);
  const server = await arrived("raised on the backend", `${name}-api`);
  expect(field(browser, "trace_id")).toMatch(/^[0-9a-f]{32}$/);
  expect(field(server, "trace_id")).toBe(field(browser, "trace_id"));
  return { browser, server, response: await response };
}

const PUBLIC_URL = 'import { publicUrl } from "@culvert/nextjs/public-url";\n';
const addressFiles = {
  "middleware.js": `${PUBLIC_URL}import { NextResponse } from "next/server";
export const middleware = (request) => NextResponse.next({ headers: { "x-address": publicUrl(request).href } });
export const config = { matcher: "/api/address" };
`,
  "app/api/address/route.js": `${PUBLIC_URL}export const GET = (request) => Response.json(publicUrl(request));\n`,
};

async function expectPublicUrl(request: APIRequestContext): Promise<void> {
  const url = `${origin}/api/address?a=1`;
  const answer = await request.get(url);
  expect([await answer.json(), answer.headers()["x-address"]]).toEqual([url, url]);
}

let kinds = {};
test.beforeAll(async () => {
  // An app as Sentry's wizard leaves it, with both routers and an edge route.
  const { files } = fixtures["wizard-app"];
  const manifest = files["package.json"]?.replace('"shop"', `"${name}"`) ?? "";
  const edge =
    'export const config = { runtime: "edge" };\nexport default function handler() {\n  throw new Error("raised at the edge by jane@example.com");\n}\n';
  // Writing a cache for later builds takes a third of this one's processor time.
  const options = "cacheComponents: true, experimental: { turbopackFileSystemCacheForBuild: false },";
  const config = files["next.config.ts"]?.replace("/* config options here */", options) ?? "";
  const more = {
    ...addressFiles,
    "pages/api/edge-example.ts": edge,
    "package.json": manifest,
    "next.config.ts": config,
  };
  kinds = withKinds({ ...files, ...pagesRouter("ts", "old"), ...more }, { pages: true, cacheComponents: true });
  writeFixture({ files: kinds, path: "." }, app);
  cpSync(join(import.meta.dirname, "photo.png"), join(app, "public/photo.png"));
  expect(commands.length).toBeLessThanOrEqual(6);
  [origin = "", ingest = ""] = addressesIn(await typeAll(commands, folder));
});
test.afterAll(async () => {
  await compose("down --volumes --rmi local --timeout 0");
  // The builds' cache of this run's app.
  const ids = `docker buildx du --verbose | awk -v RS= '/with id "\\/${name}-culvert"/ { print $2 }'`;
  await type(`${ids} | xargs -I{} docker buildx prune --force --filter id={}`);
  rmSync(folder, { recursive: true });
});
test.beforeEach(({ allow }) => {
  allow.origin(origin);
  // 404: the app has no icon.
  allow.consoleError(/raised on the frontend|status of (404|500)/);
});

for (const [router, name] of [
  ["App", "sentry-example"],
  ["Pages", "old"],
])
  test(`${router} Router: an error of each side arrives with one trace, the environment and the request's id`, async ({
    page,
  }) => {
    const { browser, server, response } = await expectOneTrace(page, name);
    for (const event of [browser, server]) expect(field(event, "environment")).toBe("shop-test");
    expect(field(server, "request_id")).toBe(response.headers()["x-request-id"]);
  });

test("a page load continues the trace of its request, on each kind of page, and both or neither are sampled", async ({
  browser,
}) => {
  await expectOneTracePerPageLoad(browser, origin, ingest, kindsIn(kinds));
});

test("npx @culvert/nextjs doctor finds nothing wrong from outside", async () => {
  expect(await type(`npx @culvert/nextjs doctor ${origin}`)).toMatch(/✓ tunnel .*culvert: all is well/s);
});

test("an error of an edge route arrives, scrubbed", async ({ request }) => {
  await request.get(`${origin}/api/edge-example`);
  await arrived("raised at the edge by [email]");
});

test("a page from the browser's own cache does not continue the trace of the visit before", async ({
  playwright,
  launchOptions,
}) => {
  const address = `${origin}/kinds/static`;
  // Chromium stores no page of a site whose certificate has an error, even if the error is ignored: it trusts the key.
  const key = `openssl s_client -connect ${new URL(origin).host} </dev/null | openssl x509 -noout -pubkey`;
  const hash = await type(`${key} | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64`);
  const trusted = `--ignore-certificate-errors-spki-list=${hash.trim()}`;
  const args = launchOptions.args?.filter((arg) => arg !== "--ignore-certificate-errors") ?? [];
  const browser = await playwright.chromium.launch({ ...launchOptions, args: [...args, trusted] });
  try {
    const page = await browser.newPage({ ignoreHTTPSErrors: false });
    const traces = [];
    const visits: [go: () => Promise<unknown>, isOwn: boolean][] = [
      [() => page.goto(address), false],
      // Asks whether the stored page is current: a 304 has the trace of its own request.
      [() => page.reload(), false],
      [() => page.goto("about:blank").then(() => page.goBack()), true],
    ];
    for (const [go, isOwn] of visits) {
      await go();
      await page.waitForFunction(() => globalThis.sentry);
      const size = await page.evaluate(
        () => (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming).transferSize,
      );
      const { trace, parent } = await continued(page);
      traces.push(trace);
      expect([size === 0, parent === undefined]).toEqual([isOwn, isOwn]);
    }
    expect(new Set(traces).size).toBe(3);
  } finally {
    await browser.close();
  }
});

test("a page that a cache may store carries no trace", async ({ request }) => {
  const hasTrace = async (more = {}) => {
    const response = await request.get(`${origin}/kinds/static`, { headers: { accept: "text/html", ...more } });
    return response.headers()["server-timing"]?.includes("sentry-trace");
  };
  expect([await hasTrace(), await hasTrace({ via: "1.1 cache" })]).toEqual([true, false]);
});

test("Next revalidates a page, resizes a picture and redirects; no policy is added; publicUrl is the browser's address", async ({
  page,
  request,
}) => {
  const made = async () => {
    await page.goto(`${origin}/kinds/cached`);
    return page.getByRole("heading").textContent();
  };
  const first = await made();
  await expect(async () => expect(await made()).not.toBe(first)).toPass();
  const inParts = await page.goto(`${origin}/kinds/hole`);
  await expect(page.getByText("Per request")).toBeVisible();
  expect(inParts?.headers()).not.toHaveProperty("content-security-policy");
  const accept = { headers: { accept: "image/webp" } };
  const photo = await request.get(`${origin}/_next/image?url=%2Fphoto.png&w=64&q=75`, accept);
  expect([photo.status(), photo.headers()["content-type"]]).toEqual([200, "image/webp"]);
  expect((await request.get(`${origin}/api/redirect`)).url()).toBe(`${origin}/kinds/static`);
  await expectPublicUrl(request);
  expect(await compose("logs web")).not.toMatch(/EROFS|ENOENT|EACCES|ENOSPC/);
});

test("the image passes make check-app", async () => {
  const command = `WEB_IMAGE=${environment.COMPOSE_PROJECT_NAME}-web make check-app JSON=1`;
  const { checks } = JSON.parse(await type(command, join(folder, "culvert")));
  const others = checks.filter(({ state }: { state: string }) => state !== "ok");
  // The warnings are about the app's own middleware and functions with "use cache".
  expect(others.map(({ check }: { check: string }) => check)).toEqual(["bodies", "server actions"]);
});

// The last one with this app, because the proxy stays away.
test("while the proxy is away, no error of the server is lost", async () => {
  await compose("stop --timeout 0 proxy");
  await compose(`exec -T web node -e 'fetch("http://127.0.0.1:3000/api/sentry-example-api?order=4712")'`);
  await arrived("order=4712");
});

const withSdk11 = (text = "") => text.replace('"@sentry/nextjs": "10.78.0"', '"@sentry/nextjs": "11.0.0"');
const next15 = fixtures["next-15"];
const others: Record<string, Fixture> = {
  "monorepo-pnpm, SDK 11.8": fixtures["monorepo-pnpm"],
  "Next 15, SDK 10": next15,
  "Next 15, SDK 11": { ...next15, files: { ...next15.files, "package.json": withSdk11(next15.files["package.json"]) } },
  "Pages Router, SDK 10": fixtures["wizard-pages"],
};
// A build of Next takes minutes: these are for the nightly run.
for (const [name, { files, path }] of process.env.ALL_APPS ? Object.entries(others) : [])
  test(`${name}: what init prints builds and runs it, and each page load and each error have one trace`, async ({
    browser,
    page,
    request,
    allow,
  }) => {
    await compose("down --volumes --timeout 0");
    const appFiles = Object.fromEntries(Object.entries(files).map(([file, text]) => [relative(path, file), text]));
    const hasApp = "app/layout.jsx" in appFiles;
    const all = { ...withKinds(appFiles, { app: hasApp, pages: true }), ...(hasApp && addressFiles) };
    app = writeFixture({ files: all, path: "." }, join(folder, name.replaceAll(/\W+/g, "-"), path));
    const output = await type(`node ${folder}/culvert/web/telemetry/dist/cli/main.js init`);
    [origin = "", ingest = ""] = addressesIn(output);
    const next = output.match(/(?<=^ {2})(?:npm|pnpm|docker) .*\S/gm) ?? [];
    await typeAll(next, app);
    allow.origin(new URL(origin).origin);
    await expectOneTrace(page);
    await expectOneTracePerPageLoad(browser, origin, ingest, kindsIn(all));
    if (hasApp) await expectPublicUrl(request);
  });
