import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copySources, must, run, temporaryFolder } from "./run.ts";
import { IMAGES, projectName } from "./support/docker.ts";
import { Recorder } from "./support/recorder/client.ts";

const prefix = projectName("front");
const ports = { https: Number(process.env.HTTPS_PORT) + 7, http: Number(process.env.HTTP_PORT) + 7 };
const front = {
  ...{ FRONT_NAME: prefix, FRONT_SUBNET: "10.213.44.0/24", COMPOSE_FILE: "" },
  ...{ FRONT_HTTPS_PORT: String(ports.https), FRONT_HTTP_PORT: String(ports.http) },
};
const apps = { shop: "1", blog: "2" };
type App = keyof typeof apps;
const names: App[] = ["shop", "blog"];
const stack = (app: App) => ({
  ...front,
  ...{ IMAGES, WEB_EGRESS: "on", COMPOSE_PROJECT_NAME: `${prefix}-${app}` },
  COMPOSE_FILE: "docker-compose.yml:deploy/front/app.yml:deploy/test/fronts.compose.yml",
  SERVER_NAME: `${app}.example`,
  SENTRY_DSN: `http://culvert@recorder:9000/${apps[app]}`,
  REGION: app,
});
const start = (app: App, ...options: string[]) =>
  must(["docker", "compose", "up", "-d", "--no-build", ...options, "--wait", "web", "proxy"], stack(app));

const folder = temporaryFolder();
const inClone = (command: string) => run(["sh", "-c", `cd '${folder}' && ${command}`], front);
const useApps = (lines: string) => {
  writeFileSync(join(folder, "deploy/front/apps.conf"), lines);
  return inClone("sh deploy/front/up.sh");
};

beforeAll(() => copySources(folder, "docker-compose.yml deploy proxy web/Dockerfile"));
afterAll(async () => {
  for (const app of names)
    await run(["docker", "compose", "--profile", "*", "down", "--volumes", "-t", "0"], stack(app));
  await inClone(`docker compose -p ${prefix} -f deploy/front/compose.yml down -t 0`);
});

async function ask(name: string, path = "/", body = "") {
  const at = { host: "127.0.0.1", port: ports.https, servername: name, rejectUnauthorized: false, agent: false };
  const outgoing = request({ ...at, path, method: body ? "POST" : "GET", headers: { host: name } });
  outgoing.on("error", () => {}).end(body);
  const [{ socket, statusCode: status }] = await once(outgoing, "response");
  const { subjectaltname: certificate } = (socket as TLSSocket).getPeerCertificate();
  outgoing.destroy();
  return { status, certificate };
}
const plain = (url: string) =>
  must(["curl", "-sSo/dev/null", "-w%{http_code} %{redirect_url}", "--connect-to", `::127.0.0.1:${ports.http}`, url]);

test("a front without apps.conf, or with a line that is none, is not started", async () => {
  expect((await inClone("sh deploy/front/up.sh")).output).toMatch(/culvert: deploy\/front\/apps.conf: missing: copy/);
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
    const certificate = expect.stringContaining(`${app}.example`);
    expect(await ask(`${app}.example`)).toMatchObject({ status: 200, certificate });
    const body = `${JSON.stringify({ dsn: stack(app).SENTRY_DSN })}\n{"type":"event"}\n{}\n`;
    expect(await ask(`${app}.example`, "/monitoring", body)).toMatchObject({ status: 200 });
    const { output } = await run(["sh", "deploy/checks/host/doctor.sh"], { BASE_URL: "", ...stack(app) });
    expect(output.match(/^✗ (?!public address|certificate).*$/gm), output).toBeNull();
    // The front passes TLS on.
    expect(output).toMatch(/^✗ certificate +a development certificate, .*: set ACME=on/m);
    await recorder.waitFor(({ url }) => url.startsWith(`/api/${apps[app]}/envelope/`) || undefined, mark);
  }
  expect(await plain("http://shop.example/a?b")).toBe("308 https://shop.example/a?b");
  expect(await plain("http://other.example/")).toBe("421");
  await expect(ask("other.example")).rejects.toThrow();

  const status = (name: string, path?: string) => ask(name, path).then(({ status }) => status, String);
  let isDone = false;
  const statuses = new Set<unknown>();
  const visitor = (async () => {
    while (!isDone) statuses.add(await status("blog.example", "/healthz"));
  })();
  await start("shop", "--force-recreate");
  isDone = true;
  await visitor;
  expect(statuses).toEqual(new Set([200]));
  // The new proxy has another address.
  await expect.poll(() => status("shop.example")).toBe(200);
});
