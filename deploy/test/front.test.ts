import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { composeWith, copySources, doctor, must, run, takeDown, temporaryFolder } from "./run.ts";
import { IMAGES, networkOf, projectName } from "./support/docker.ts";
import { Recorder } from "./support/recorder/client.ts";

const prefix = projectName("front");
const ports = { https: Number(process.env.HTTPS_PORT) + 7, http: Number(process.env.HTTP_PORT) + 7 };
const front = {
  FRONT_NAME: prefix,
  FRONT_SUBNET: `${networkOf(212)}.0/24`,
  COMPOSE_FILE: "",
  FRONT_HTTPS_PORT: String(ports.https),
  FRONT_HTTP_PORT: String(ports.http),
};
/** With projects that no other stack has. */
const apps = { shop: "4", blog: "5" };
type App = keyof typeof apps;
const names: App[] = ["shop", "blog"];
const stack = (app: App) => ({
  ...front,
  IMAGES,
  WEB_EGRESS: "on",
  COMPOSE_PROJECT_NAME: `${prefix}-${app}`,
  COMPOSE_FILE: "docker-compose.yml:deploy/front/app.yml:deploy/test/fronts.compose.yml",
  SERVER_NAME: `${app}.example`,
  SENTRY_DSN: `http://culvert@recorder:9000/${apps[app]}`,
  REGION: app,
});
const start = (app: App, ...options: string[]) =>
  composeWith(stack(app))("up", "-d", "--no-build", ...options, "--wait", "web", "proxy");

const folder = temporaryFolder();
const inClone = (command: string) => run(["sh", "-c", `cd '${folder}' && ${command}`], front);
const useApps = (lines: string) => {
  writeFileSync(join(folder, "deploy/front/apps.conf"), lines);
  return inClone("sh deploy/front/up.sh");
};

beforeAll(() => copySources(folder, "docker-compose.yml deploy proxy web/Dockerfile"));
afterAll(async () => {
  for (const app of names) await takeDown(stack(app));
  await inClone(`docker compose -p ${prefix} -f deploy/front/compose.yml down -t 0`);
});

/** The status and the redirect or the certificate. */
const ask = (url: string, ...options: string[]) => {
  const port = url.startsWith("https") ? ports.https : ports.http;
  const to = ["--connect-to", `::127.0.0.1:${port}`, ...options, url];
  return must(["curl", "-skSo/dev/null", "-w%{http_code} %{redirect_url}%{certs}", ...to]);
};

test("a front without apps.conf, or with a line that is none, is not started", async () => {
  expect((await inClone("rm -f deploy/front/apps.conf; sh deploy/front/up.sh")).output).toMatch(
    /culvert: deploy\/front\/apps.conf: missing: copy/,
  );
  const { code, output } = await useApps("shop.example\n");
  const line = /culvert: deploy\/front\/apps\.conf: .* in \/front\/apps\.conf:\d+: mend the line/;
  expect([code, output]).toEqual([1, expect.stringMatching(line)]);
});

test("two apps share one port: each has its own certificate, pages, events and releases", async () => {
  const { code, output } = await useApps(`shop.example ${prefix}-shop;\nblog.example ${prefix}-blog;\n`);
  expect(code, output).toBe(0);
  await Promise.all(names.map((app) => start(app)));

  const recorder = new Recorder();
  const mark = await recorder.count();
  for (const app of names) {
    expect(await ask(`https://${app}.example/`)).toMatch(RegExp(`^200 [^]*DNS:${app}\\.example`));
    const body = `${JSON.stringify({ dsn: stack(app).SENTRY_DSN })}\n{"type":"event"}\n{}\n`;
    const post = ["-H", "Content-Type: text/plain", "--data-binary", body];
    expect(await ask(`https://${app}.example/monitoring`, ...post)).toMatch(/^200/);
    await recorder.waitFor(({ url }) => url.startsWith(`/api/${apps[app]}/envelope/`) || undefined, mark);
    const faults = async () => (await doctor(stack(app))).output.match(/^✗ (?!public address).*$/gm);
    // The front passes TLS on.
    const line = /^✗ certificate +a development certificate, .*: set ACME=on/;
    await expect.poll(faults).toEqual([expect.stringMatching(line)]);
  }
  expect(await ask("http://shop.example/a?b")).toBe("308 https://shop.example/a?b");
  expect(await ask("http://other.example/")).toBe("421");
  await expect(ask("https://other.example/")).rejects.toThrow();

  const status = (url: string) => ask(url).then((answer) => answer.slice(0, 3), String);
  let isDone = false;
  const statuses = new Set<string>();
  const visitor = (async () => {
    while (!isDone) statuses.add(await status("https://blog.example/healthz"));
  })();
  await start("shop", "--force-recreate").finally(() => (isDone = true));
  await visitor;
  expect(statuses).toEqual(new Set(["200"]));
  // The new proxy has another address.
  await expect.poll(() => status("https://shop.example/")).toBe("200");
});
