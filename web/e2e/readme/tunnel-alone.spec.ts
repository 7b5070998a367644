import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { must as docker, label, networkOf, outputOf, root, run } from "../../../deploy/test/support/docker.ts";
import { codeBelow } from "../../../deploy/test/support/document.ts";
import { Recorder } from "../../../deploy/test/support/recorder/client.ts";
import { arrived, itemsIn, says } from "../envelopes.ts";
import { expect, test } from "../fixtures.ts";
import { cloneThis, otherStack } from "../stack.ts";

declare const Sentry: typeof import("@sentry/browser");

const codeOf = (heading: string) => codeBelow(heading, "docs/tunnel-alone.md");
const [start = "", html = "", outage = ""] = codeOf("Try it");
const [stopIngest = "", startIngest = ""] = outage.split("\n");

const folder = mkdtempSync(join(tmpdir(), "culvert-tunnel-"));
const otherOrigin = /https:.*/.exec(codeOf("Another origin").join())?.[0] ?? "";
const stack = otherStack(120, {
  COMPOSE_ENV_FILES: undefined,
  COMPOSE_FILE: `${/docker-compose[^']*/.exec(start)}:${root}/web/e2e/readme/tunnel-alone.yml`,
  TUNNEL_ALLOWED_ORIGINS: otherOrigin,
  ...cloneThis,
});
const { COMPOSE_PROJECT_NAME: project, HTTPS_PORT: port } = stack;
const subnet = networkOf(215);
Object.assign(stack, { FRONT_SUBNET: `${subnet}.0/24`, FRONT_GATEWAY: `${subnet}.1` });
const origin = `http://localhost:${port}`;
const origins = [origin, otherOrigin];
const ingest = () => new Recorder(`http://127.0.0.1:${stack.RECORDER_PORT}`);

const type = async (lines: string, below = "culvert") =>
  outputOf([lines], await run("sh", ["-ec", `cd '${join(folder, below)}'\n${lines}`], stack));

buildSync({
  bundle: true,
  format: "iife",
  globalName: "Sentry",
  outfile: join(folder, "sdk.js"),
  stdin: { contents: 'export * from "@sentry/browser"', resolveDir: import.meta.dirname },
});
const script = `<script src="${origin}/sdk.js"></script>`;
const files = {
  // Without the CDN.
  "index.html": html.replace(/<script src.*/, script),
  all: `<h1>A page without a framework</h1>${script}<script>Sentry.init({
    dsn: "http://culvert@ingest:8969/1", tunnel: "${origin}/monitoring", environment: location.origin, tracesSampleRate: 1,
    replaysSessionSampleRate: 1, integrations: [Sentry.browserTracingIntegration(), Sentry.replayIntegration()],
  })</script>`,
  // An Nginx that serves another app, with the page's lines.
  "nginx.conf": `user root;
daemon off;
pid /tmp/nginx.pid;
events {}
http {
  default_type text/html;
  server {
    listen 127.0.0.1:${port};
    root /site;
    ${codeOf("Nginx")[0]?.replace(":8080", `:${stack.HTTP_PORT}`)}
  }
}
`,
};
test.describe.configure({ mode: "serial" });
test.beforeAll(async () => {
  await type(start, "");
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const nginx = ["--user=root", "--entrypoint=nginx", `--volume=${folder}:/site:ro`, `${project}-proxy`];
  await docker("run", "-d", label, `--name=${project}-front`, "--network=host", ...nginx, "-c", "/site/nginx.conf");
});
test.afterAll(async () => {
  await docker("rm", "--force", `${project}-front`);
  await type("docker compose --profile=* down --volumes --timeout=0");
  rmSync(folder, { recursive: true });
});
test.beforeEach(({ allow }) => {
  for (const from of origins) allow.origin(from);
  // The pages have no icon.
  allow.consoleError(/status of 404/);
});

test("the commands of docs/tunnel-alone.md: a page's event outlives an outage of the ingest", async ({ page }) => {
  const visit = async () => {
    const response = page.waitForResponse(`${origin}/monitoring`);
    await page.goto(`${origin}/`);
    expect((await response).status()).toBe(200);
  };
  await visit();
  await arrived("event", says("My first event"), 0, ingest());
  expect(html).toContain(`/${await page.evaluate(() => Sentry.SDK_VERSION)}/`);

  await type(stopIngest);
  await visit();
  await type(startIngest);
  const recorder = ingest();
  await expect(() => recorder.count()).toPass();
  await arrived("event", says("My first event"), 0, recorder);
  await page.evaluate(() => Sentry.captureMessage("the last event"));
  await arrived("event", says('"message":"the last event"'), 0, recorder);
  expect((await recorder.all()).flatMap((request) => itemsIn(request, "event"))).toHaveLength(2);
});

for (const from of origins)
  test(`@sentry/browser at ${from}: error, transaction, replay and feedback arrive, without a preflight`, async ({
    page,
  }) => {
    // With a route, Playwright answers preflights itself.
    if (from === otherOrigin)
      await page.route(`${from}/**`, (route) => route.fulfill({ contentType: "text/html", body: files.all }));
    await page.goto(`${from}/all`);
    await page.evaluate(async () => {
      Sentry.captureException(new Error("of a static page"));
      Sentry.captureFeedback({ message: "the page is static" });
      await Sentry.getReplay()?.flush();
    });
    for (const type of ["event", "transaction", "replay_event", "feedback"])
      await arrived(type, says(`"environment":"${from}"`), 0, ingest());
    expect(await docker("logs", `${project}-front`)).not.toContain("OPTIONS");
  });

test("a server in a container of this host has the queue, too", async () => {
  const [connect = "", , url] = codeOf("Your SDK").join().split(/\n|"/);
  const command = connect.replace("culvert", `${project}`).replace("<container>", "$(docker compose ps -q ingest)");
  const body = '{"dsn":"http://culvert@ingest:8969/1"}\\n{"type":"event"}\\n{"message":"of a server"}\\n';
  const send = `fetch("${url?.replace("culvert", `${project}`)}", { method: "POST", body: \`${body}\` })`;
  await type(`${command}\ndocker compose exec -T ingest node -e '${send}'`);
  await arrived("event", says("of a server"), 0, ingest());
});
