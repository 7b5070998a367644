import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { connect } from "node:tls";
import { promisify } from "node:util";
import type { APIRequestContext, Page } from "@playwright/test";
import { must as docker, label, root } from "../../../deploy/test/support/docker.ts";
import { type Fixture, fixtures, pagesRouter, writeFixture } from "../../telemetry/cli/fixtures/apps.ts";
import { expect, open, test } from "../fixtures.ts";
import { READ_STREAM } from "../local-ingest.ts";
import { otherStack } from "../stack.ts";
import { continued, expectOneTracePerPageLoad, kindsIn, withKinds } from "./page-loads.ts";

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
let kinds = {};
test.beforeAll(async () => {
  test.setTimeout(1_800_000);
  // An app as Sentry's wizard leaves it, with both routers and an edge route.
  const { files } = fixtures["wizard-app"];
  const manifest = files["package.json"]?.replace('"shop"', `"${name}"`) ?? "";
  const edge =
    'export const config = { runtime: "edge" };\nexport default function handler() {\n  throw new Error("raised at the edge by jane@example.com");\n}\n';
  const config = files["next.config.ts"]?.replace("/* config options here */", "cacheComponents: true,") ?? "";
  const more = {
    ...addressFiles,
    "pages/api/edge-example.ts": edge,
    "package.json": manifest,
    "next.config.ts": config,
  };
  kinds = withKinds({ ...files, ...pagesRouter("ts", "old"), ...more }, { pages: true, cacheComponents: true });
  writeFixture({ files: kinds, path: "." }, app);
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

const ingest = async () => `http://${/[\d.]+:\d+/.exec(await compose("port ingest 8969"))}`;
test("a page load continues the trace of its request, on each kind of page, and both or neither are sampled", async ({
  browser,
}) => {
  await expectOneTracePerPageLoad(browser, origin, await ingest(), kindsIn(kinds));
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

/** The hash of an address's public key, for Chromium's `--ignore-certificate-errors-spki-list`. */
async function publicKeyHash(address: string): Promise<string> {
  const { hostname: host, port } = new URL(address);
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const key = socket.getPeerX509Certificate()?.publicKey.export({ type: "spki", format: "der" });
  socket.destroy();
  return createHash("sha256")
    .update(key ?? "")
    .digest("base64");
}

test("a page from the browser's own cache does not continue the trace of the visit before", async ({
  playwright,
  launchOptions,
}) => {
  const address = `${origin}/kinds/static`;
  // Chromium stores no page of a site whose certificate has an error, even if the error is ignored: it trusts the key.
  const trusted = `--ignore-certificate-errors-spki-list=${await publicKeyHash(origin)}`;
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

/** An Nginx that stores pages, as a CDN does. */
const CACHE = `pid /tmp/nginx.pid;
events {}
http {
  proxy_cache_path /tmp/cache keys_zone=pages:1m;
  server {
    listen 8000;
    resolver 127.0.0.11 valid=1s;
    set $proxy proxy:8443;
    proxy_cache pages;
    proxy_ignore_headers X-Accel-Buffering;
    proxy_set_header Host localhost;
    add_header X-Cache $upstream_cache_status;
    location / { proxy_pass https://$proxy; }
  }
}
`;
test("behind a cache that stores pages, no visitor gets the trace of another one", async ({ request }) => {
  const [project, path] = [environment.COMPOSE_PROJECT_NAME, "/kinds/static"];
  writeFileSync(join(folder, "cache.conf"), CACHE);
  const container = await docker(
    ...["run", "--detach", label, `--network=${project}_outside`, "--publish=127.0.0.1::8000", "--user=root"],
    ...[`--volume=${folder}/cache.conf:/cache.conf:ro`, "--entrypoint=nginx", `${project}-proxy`],
    ...["-c", "/cache.conf", "-g", "daemon off;"],
  );
  try {
    const port = await docker("port", container, "8000");
    const get = async (url: string, more = {}) => {
      const headers = { accept: "text/html", ...more };
      const { "x-cache": stored, "server-timing": timing } = (await request.get(url, { headers })).headers();
      return [stored, timing?.includes("sentry-trace")];
    };
    const twice = async (query: string, more?: object) => [
      await get(`http://${port}${path}?${query}`, more),
      await get(`http://${port}${path}?${query}`, more),
    ];
    const stored = [
      ["MISS", false],
      ["HIT", false],
    ];
    expect(await get(origin + path)).toEqual([undefined, true]);
    expect(await twice("named", { via: "1.1 cache" })).toEqual(stored);
    environment.TRUSTED_PROXIES = "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16";
    await compose("up --wait proxy");
    expect(await twice("trusted")).toEqual(stored);
    environment.SHARED_CACHE = "off";
    await compose("up --wait proxy");
    expect(await get(origin + path)).toEqual([undefined, true]);
  } finally {
    for (const name of ["TRUSTED_PROXIES", "SHARED_CACHE"]) delete environment[name];
    await docker("rm", "--force", container);
  }
});

test("publicUrl is the browser's address", async ({ request }) => {
  await expectPublicUrl(request, origin);
});

const withSdk11 = (text = "") => text.replace('"@sentry/nextjs": "10.78.0"', '"@sentry/nextjs": "11.0.0"');
const next15 = fixtures["next-15"];
/** Apps of other versions. */
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
    const own = Object.fromEntries(Object.entries(files).map(([file, text]) => [relative(path, file), text]));
    const hasApp = "app/layout.jsx" in own;
    const all = { ...withKinds(own, { app: hasApp, pages: true }), ...(hasApp && addressFiles) };
    app = writeFixture({ files: all, path: "." }, join(folder, name.replaceAll(/\W+/g, "-"), path));
    const output = await type(`node ${folder}/culvert/web/telemetry/dist/cli/main.js init`);
    const next = output.match(/(?<=^ {2})(?:npm|pnpm|docker) .*\S/gm) ?? [];
    await typeAll(
      // In a CI, pnpm would want a lockfile that fits.
      next.map((command) => command.replace("pnpm install", "npx --yes pnpm@10.34.8 install --no-frozen-lockfile")),
      app,
    );
    allow.origin(new URL(addressIn(output)).origin);
    await expectOneTrace(page, addressIn(output));
    await expectOneTracePerPageLoad(browser, addressIn(output), await ingest(), kindsIn(all));
    if (hasApp) await expectPublicUrl(request, addressIn(output));
  });
