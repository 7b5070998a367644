import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { APIRequestContext, Page } from "@playwright/test";
import { root } from "../../../deploy/test/support/docker.ts";
import { fixtures, pagesRouter, writeFixture } from "../../telemetry/cli/fixtures/apps.ts";
import { expect, open, test } from "../fixtures.ts";
import { READ_STREAM } from "../local-ingest.ts";
import { otherStack } from "../stack.ts";

/** What docs/your-app.md says to type. */
const [, section = ""] = readFileSync(`${root}/docs/your-app.md`, "utf8").split(/^## /m);
const commands = section.match(/(?<=^ {4})\S.*/gm) ?? [];

// An empty folder, and in it the app. Its name is that of the cache of its builds, so this one is empty, too.
const folder = mkdtempSync(join(tmpdir(), "culvert-app-"));
const name = `shop-${folder.slice(-6).toLowerCase()}`;
let app = join(folder, "shop");
const environment = otherStack(60, {
  ...{ COMPOSE_FILE: undefined, COMPOSE_ENV_FILES: undefined, HTTPS_PORT: undefined, HTTP_PORT: undefined },
  SENTRY_ENVIRONMENT: "shop-test",
  // As everywhere: without addresses in the lockfile, npm asks for each package first.
  npm_config_omit_lockfile_registry_resolved: "false",
  // The clone is this one.
  ...{
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `url.${root}.insteadOf`,
    GIT_CONFIG_VALUE_0: "https://github.com/culvert/culvert",
  },
});
environment.CULVERT_IMAGES = environment.COMPOSE_PROJECT_NAME;

/** Runs a command line in a terminal in which each question is answered with yes; returns its output. */
async function type(command: string, cwd = app): Promise<string> {
  const options = { cwd, env: environment, maxBuffer: 64 << 20 };
  const terminal = promisify(execFile)("script", ["-qec", command, "/dev/null"], options);
  terminal.child.stdin?.end("y\n");
  return (await terminal.catch(({ stdout }) => Promise.reject(new Error(`${command}: ${stdout}`)))).stdout;
}
const compose = (command: string) => type(`docker compose --project-directory culvert ${command}`);

/** Waits until an exception with all the words has arrived at the local ingest, and returns its event as JSON. */
function arrived(...words: string[]): Promise<string> {
  const quoted = [READ_STREAM, "1", '"exception"', ...words].map((word) => `'${word.replaceAll("'", `'"'"'`)}'`);
  return compose(`exec -T ingest node -e ${quoted.join(" ")}`);
}
const field = (event: string, name: string) => new RegExp(`"${name}":"([^"]*)"`).exec(event)?.[1];

/** Types command lines one after the other, from a folder on; returns their output. */
async function typeAll(lines: string[], from: string): Promise<string> {
  let [cwd, output] = [from, ""];
  for (const command of lines.flatMap((line) => line.split(" && "))) {
    if (command.startsWith("cd ")) cwd = join(cwd, command.slice(3));
    else output += await type(command, cwd);
  }
  return output;
}
const addressIn = (output: string) => /The app is then at (https:\S+),/.exec(output)?.[1] ?? "";

/** Makes an error of each side, and expects that they arrive with one trace; returns both events and the API's response. */
async function expectOneTrace(page: Page, address: string, name = "sentry-example") {
  await open(page, `${address}/${name}-page`);
  const response = page.waitForResponse(`${address}/api/${name}-api`);
  await page.getByRole("button", { name: "Throw Sample Error" }).click();
  const browser = await arrived("raised on the frontend", `${name}-page`);
  const server = await arrived("raised on the backend", `${name}-api`);
  expect(field(browser, "trace_id")).toMatch(/^[0-9a-f]{32}$/);
  expect(field(server, "trace_id")).toBe(field(browser, "trace_id"));
  return { browser, server, response: await response };
}

const PUBLIC_URL = 'import { publicUrl } from "@culvert/nextjs/public-url";\n';
/** An app's routes that tell the public address, in middleware and a route handler. */
const addressFiles = {
  "middleware.js": `${PUBLIC_URL}import { NextResponse } from "next/server";
export const middleware = (request) => NextResponse.next({ headers: { "x-address": publicUrl(request).href } });
export const config = { matcher: "/api/address" };
`,
  "app/api/address/route.js": `${PUBLIC_URL}export const GET = (request) => Response.json(publicUrl(request));\n`,
};

/** Expects the public address in both. */
async function expectPublicUrl(request: APIRequestContext, address: string): Promise<void> {
  const url = `${address}/api/address?a=1`;
  const answer = await request.get(url);
  expect([await answer.json(), answer.headers()["x-address"]]).toEqual([url, url]);
}

let origin = "";
test.beforeAll(async () => {
  test.setTimeout(1_800_000);
  // An app as Sentry's wizard leaves it, with both routers and an edge route.
  const { files } = fixtures["wizard-app"];
  const manifest = files["package.json"]?.replace('"shop"', `"${name}"`) ?? "";
  const edge =
    'export const runtime = "edge";\nexport function GET() {\n  throw new Error("raised at the edge by jane@example.com");\n}\n';
  const more = { ...addressFiles, "app/api/edge-example/route.ts": edge, "package.json": manifest };
  writeFixture({ files: { ...files, ...pagesRouter("ts", "old"), ...more }, path: "." }, app);
  expect(commands.length).toBeLessThanOrEqual(6);
  origin = addressIn(await typeAll(commands, folder));
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
    const { browser, server, response } = await expectOneTrace(page, origin, name);
    for (const event of [browser, server]) expect(field(event, "environment")).toBe("shop-test");
    expect(field(server, "request_id")).toBe(response.headers()["x-request-id"]);
  });

test("npx @culvert/nextjs doctor finds nothing wrong from outside", async () => {
  expect(await type(`npx @culvert/nextjs doctor ${origin}`)).toMatch(/✓ tunnel .*culvert: all is well/s);
});

test("an error of an edge route arrives, scrubbed", async ({ request }) => {
  await request.get(`${origin}/api/edge-example`);
  await arrived("raised at the edge by [email]");
});

test("while the proxy is away, no error of the server is lost", async () => {
  await compose("stop --timeout 0 proxy");
  await compose(`exec -T web node -e 'fetch("http://127.0.0.1:3000/api/sentry-example-api?order=4712")'`);
  await arrived("order=4712");
  await type(commands.at(-1) ?? "");
});

test("publicUrl is the browser's address", async ({ request }) => {
  await expectPublicUrl(request, origin);
});

// A build of Next takes minutes: these are for the nightly run.
for (const name of process.env.ALL_APPS ? (["monorepo-pnpm", "next-15"] as const) : [])
  test(`${name}: what init prints builds and runs it, and an error of each side arrives with one trace`, async ({
    page,
    request,
    allow,
  }) => {
    await compose("down --volumes --timeout 0");
    app = writeFixture(fixtures[name], join(folder, name));
    writeFixture({ files: addressFiles, path: "." }, app);
    const output = await type(`node ${folder}/culvert/web/telemetry/dist/cli/main.js init`);
    const next = output.match(/(?<=^ {2})(?:npm|pnpm|docker) .*\S/gm) ?? [];
    await typeAll(
      // In a CI, pnpm would want a lockfile that fits.
      next.map((command) => command.replace("pnpm install", "npx --yes pnpm@10.34.8 install --no-frozen-lockfile")),
      app,
    );
    allow.origin(new URL(addressIn(output)).origin);
    await expectOneTrace(page, addressIn(output));
    await expectPublicUrl(request, addressIn(output));
  });
