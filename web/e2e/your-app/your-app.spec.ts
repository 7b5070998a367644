import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../../deploy/test/support/docker.ts";
import { buildCa, buildImage } from "../../../deploy/test/support/images.ts";
import { fixtures, pagesRouter, writeFixture } from "../../telemetry/cli/fixtures/apps.ts";
import { expect, open, test } from "../fixtures.ts";
import { READ_STREAM } from "../local-ingest.ts";
import { otherStack } from "../stack.ts";

/** What docs/your-app.md says to type. */
const [, section = ""] = readFileSync(`${root}/docs/your-app.md`, "utf8").split(/^## /m);
const commands = section.match(/(?<=^ {4})(?:npm|npx|docker) .*/gm) ?? [];

const app = mkdtempSync(join(tmpdir(), "culvert-app-"));
/** Culvert's images are those of the tests' stack. */
const images = process.env.COMPOSE_PROJECT_NAME;
const environment = otherStack(60, {
  // The second file gives the local ingest any free port.
  COMPOSE_FILE: `compose.yml:${root}/web/e2e/readme/compose.yml`,
  COMPOSE_ENV_FILES: undefined,
  CULVERT_IMAGES: images,
  SENTRY_ENVIRONMENT: "shop-test",
  npm_config_audit: "false",
  npm_config_prefer_offline: "true",
});
const origin = `https://localhost:${environment.HTTPS_PORT}`;

/** Runs a command line in the app's folder, in a terminal in which each question is answered with yes; returns its output. */
async function type(command: string, cwd = app): Promise<string> {
  const terminal = promisify(execFile)("script", ["-qec", command, "/dev/null"], { cwd, env: environment });
  terminal.child.stdin?.end("y\n");
  return (await terminal.catch(({ stdout }) => Promise.reject(new Error(`${command}: ${stdout}`)))).stdout;
}

/** Waits until an exception with all the words has arrived at the local ingest, and returns its event as JSON. */
function arrived(...words: string[]): Promise<string> {
  const quoted = [READ_STREAM, "1", '"exception"', ...words].map((word) => `'${word.replaceAll("'", `'"'"'`)}'`);
  return type(`docker compose exec -T ingest node -e ${quoted.join(" ")}`);
}
const field = (event: string, name: string) => new RegExp(`"${name}":"([^"]*)"`).exec(event)?.[1];

/** Makes an exception of the API, past the proxy. */
const failInside = (query: string) =>
  type(`docker compose exec -T web node -e 'fetch("http://127.0.0.1:3000/api/sentry-example-api?${query}")'`);

test.beforeAll(async () => {
  test.setTimeout(900_000);
  await buildImage("deploy/ingest", { tag: `${images}-ingest` });
  const tarballs = mkdtempSync(join(tmpdir(), "culvert-package-"));
  await type(`npm pack --silent --pack-destination ${tarballs}`, join(root, "web/telemetry"));
  // An app as Sentry's wizard leaves it, with both routers.
  writeFixture(
    { ...fixtures["wizard-app"], files: { ...fixtures["wizard-app"].files, ...pagesRouter("ts", "old") } },
    app,
  );
  copyFileSync(join(tarballs, readdirSync(tarballs)[0] ?? ""), join(app, "culvert-nextjs.tgz"));
  environment.BUILD_CA_FILE = await buildCa();
  expect(commands).toHaveLength(3);
  for (const command of commands) await type(command.replace(/\S*culvert-nextjs\S*\.tgz/, "./culvert-nextjs.tgz"));
});
test.afterAll(async () => {
  await type("docker compose down --volumes --rmi local --timeout 0");
  rmSync(app, { recursive: true });
});
test.beforeEach(({ allow }) => {
  allow.origin(origin);
  // 404: the app has no icon. ERR: the proxy is stopped.
  allow.consoleError(/raised on the frontend|proxy is away|status of (404|500)|net::ERR/);
});

for (const [router, name] of [
  ["App", "sentry-example"],
  ["Pages", "old"],
])
  test(`${router} Router: an error of each side arrives with one trace, the environment and the request's id`, async ({
    page,
  }) => {
    await open(page, `${origin}/${name}-page`);
    const response = page.waitForResponse(`${origin}/api/${name}-api`);
    await page.getByRole("button", { name: "Throw Sample Error" }).click();
    const browser = await arrived("raised on the frontend", `${name}-page`);
    const server = await arrived("raised on the backend", `${name}-api`);
    expect(field(browser, "trace_id")).toMatch(/^[0-9a-f]{32}$/);
    expect(field(server, "trace_id")).toBe(field(browser, "trace_id"));
    for (const event of [browser, server]) expect(field(event, "environment")).toBe("shop-test");
    expect(field(server, "request_id")).toBe((await response).headers()["x-request-id"]);
  });

test("a secret and an e-mail address in a query do not arrive", async ({ request }) => {
  await request.get(`${origin}/api/sentry-example-api?order=4711&password=correct-horse&from=jane@example.com`);
  expect(await arrived("order=4711")).not.toMatch(/correct-horse|jane/);
});

test("while proxy or spool is away, no error of browser or server is lost", async ({ page }) => {
  await open(page, `${origin}/sentry-example-page`);
  await type("docker compose stop --timeout 0 proxy");
  const failed = page.waitForEvent("requestfailed", (request) => request.method() === "POST");
  await page.evaluate(() => {
    setTimeout(() => {
      throw new Error("the proxy is away");
    });
  });
  await failed;
  await failInside("order=4712");
  await arrived("order=4712");

  await type("docker compose stop --timeout 0 spool");
  await failInside("order=4713");
  await type(commands.at(-1) ?? "");
  await arrived("order=4713");
  await arrived("the proxy is away");
});
