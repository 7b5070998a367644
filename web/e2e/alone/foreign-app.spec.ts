import { chmodSync, mkdtempSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePair } from "../../../deploy/test/support/certificate.ts";
import { buildImage } from "../../../deploy/test/support/images.ts";
import { headerOf, type Recorder } from "../../../deploy/test/support/recorder/client.ts";
import { hardened, type Lab, openLab } from "../lab.ts";
import { messageOf, type Report, reportsIn } from "../reports.ts";
import { expect, open, test } from "../visitor.ts";

// The DSN that is written into foreign-app/.
const HOST = "o4509632503087104.ingest.de.sentry.io";
const PROJECT = "4509632503218256";
const DSN = `https://3a1b2c3d4e5f60718293a4b5c6d7e8f9@${HOST}/${PROJECT}`;

const proxyImage = `${process.env.COMPOSE_PROJECT_NAME}-proxy`;
const image = `${process.env.COMPOSE_PROJECT_NAME}-foreign-app`;

let lab: Lab;
let saas: Recorder;
let origin: string;

/** A certificate for the name of Sentry's own host, so that the proxy verifies what it talks to. */
function certificate(): string {
  const home = mkdtempSync(join(tmpdir(), "culvert-"));
  chmodSync(home, 0o755);
  makePair(join(home, "server"), [HOST]);
  return home;
}

test.beforeAll(async () => {
  // Cold, this is an npm ci and a Next build.
  test.setTimeout(600_000);
  await buildImage("web/e2e/foreign-app", { tag: image, dockerfile: "web/Dockerfile" });

  lab = await openLab();
  const tls = certificate();
  const trust = `--volume=${join(tls, "server.crt")}:/ca:ro`;
  saas = await lab.record([], tls);
  const forward =
    "require('net').createServer(s=>{const t=require('net').connect(9443,'recorder');s.on('error',()=>t.destroy());t.on('error',()=>s.destroy());s.pipe(t).pipe(s)}).listen(443)";
  await lab.run(HOST, [], "node:24-trixie-slim", 0, ["node", "-e", forward]);
  await lab.run("web", [...hardened, trust, "--env=NODE_EXTRA_CA_CERTS=/ca"], image);
  const settings = {
    SENTRY_DSN: "http://culvert@recorder:9000/1",
    TUNNEL_ALLOWED_DSNS: DSN,
    INGEST_CA_FILE: "/ca",
  };
  const env = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
  const proxy = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--tmpfs=/tmp:uid=101,mode=0700"];
  const port = await lab.run("proxy", [...proxy, ...env, trust], proxyImage, 8443);
  origin = `https://localhost:${port}`;
  await expect.poll(() => statusOf("/sentry-example-page"), { timeout: 60_000 }).toBe(200);
});
test.afterAll(() => lab?.close());

/** The status of a page of the app, or 0 while nothing answers. */
const statusOf = (path: string) =>
  new Promise<number>((resolve) => {
    get(`${origin}${path}`, { rejectUnauthorized: false }, (answer) => {
      resolve(answer.resume().statusCode ?? 0);
    }).on("error", () => resolve(0));
  });

const from = (browser: boolean) => (report: Report) =>
  (headerOf(report.envelope.request, "user-agent")?.includes("Chrom") ?? false) === browser;

function arrived(type: string, matches: (report: Report) => boolean, timeoutMs = 30_000): Promise<Report> {
  return saas.waitFor((request) => reportsIn(request, type).find(matches), 0, timeoutMs);
}

test("an app as Sentry's wizard writes it runs behind the proxy, and its reports arrive", async ({ page, watch }) => {
  test.setTimeout(60_000);
  watch.expectOrigin(origin);
  watch.expectConsoleError(/raised on the frontend|status of (?:500|404)/);
  await page.context().addCookies([{ name: "session", value: "topsecret", url: origin }]);
  const isThrown = (report: Report) => from(true)(report) && messageOf(report).includes("frontend");
  await open(page, `${origin}/sentry-example-page`);
  await page.getByRole("button", { name: "Throw Sample Error" }).click();
  const thrown = await arrived("event", isThrown);

  expect(thrown.envelope.request).toMatchObject({
    method: "POST",
    url: expect.stringContaining(`/api/${PROJECT}/envelope/`),
  });
  expect(headerOf(thrown.envelope.request, "host")).toBe(HOST);
  expect(headerOf(thrown.envelope.request, "cookie")).toBeUndefined();
  expect(thrown.envelope.header.dsn).toBe(DSN);

  const raised = await arrived("event", (report) => from(false)(report) && messageOf(report).includes("backend"));
  expect(raised.item.payload.contexts.trace.trace_id).toBe(thrown.item.payload.contexts.trace.trace_id);
  await arrived("transaction", from(true));
  await arrived("replay_recording", from(true));
});
