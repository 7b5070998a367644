import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as requestHttp } from "node:http";
import { Agent, request as requestHttps } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { must, run } from "./run.ts";
import { Recorder } from "./support/recorder/client.ts";

const prefix = `culvert-front-${process.pid}`;
const ports = { https: Number(process.env.HTTPS_PORT) + 7, http: Number(process.env.HTTP_PORT) + 7 };
const front = {
  FRONT_NAME: prefix,
  FRONT_SUBNET: "10.213.44.0/24",
  FRONT_HTTPS_PORT: String(ports.https),
  FRONT_HTTP_PORT: String(ports.http),
  COMPOSE_FILE: "",
};
/** Two stacks, each with its name, certificate and project of Sentry. */
const apps = { shop: "1", blog: "2" };
const stack = (app: keyof typeof apps) => ({
  ...front,
  IMAGES: process.env.COMPOSE_PROJECT_NAME ?? "culvert",
  COMPOSE_PROJECT_NAME: `${prefix}-${app}`,
  COMPOSE_FILE: "docker-compose.yml:deploy/front/app.yml:deploy/test/front.compose.yml",
  SERVER_NAME: `${app}.example`,
  SENTRY_DSN: `http://culvert@recorder:9000/${apps[app]}`,
  REGION: app,
});
const compose = (app: keyof typeof apps, ...command: string[]) => must(["docker", "compose", ...command], stack(app));

// A clone, for its apps.conf.
const folder = mkdtempSync(join(tmpdir(), "culvert-front-"));
const inClone = (command: string) => run(["sh", "-c", `cd '${folder}' && ${command}`], front);
const useApps = (lines: string) => {
  writeFileSync(join(folder, "deploy/front/apps.conf"), lines);
  return inClone("sh deploy/front/up.sh");
};

beforeAll(async () => {
  const files = "git ls-files -co --exclude-standard docker-compose.yml deploy proxy web/Dockerfile";
  await must(["sh", "-euc", `${files} | tar -cf - -T - | tar -xf - -C '${folder}'`]);
});
afterAll(async () => {
  for (const app of ["shop", "blog"] as const)
    await run(["docker", "compose", "--profile", "*", "down", "--volumes", "-t", "0"], stack(app));
  await inClone(`docker compose -p ${prefix} -f deploy/front/compose.yml down -t 0`);
  rmSync(folder, { recursive: true });
});

type Response = { status: number | undefined; location: string | undefined; certificate: string; body: string };

/** Sends a request to the front for this name, over a connection of its own; rejects if there is no response. */
function ask(name: string, path: string, { body = "", tls = true } = {}): Promise<Response> {
  return new Promise((resolve, reject) => {
    const method = body ? "POST" : "GET";
    const common = { host: "127.0.0.1", path, method, headers: { host: name } };
    const secure = { ...common, port: ports.https, servername: name, rejectUnauthorized: false, agent: new Agent() };
    const outgoing = tls ? requestHttps(secure) : requestHttp({ ...common, port: ports.http, agent: false });
    outgoing.on("error", reject).on("response", async (response) => {
      const certificate = tls ? String((response.socket as TLSSocket).getPeerCertificate().subjectaltname) : "";
      const text = Buffer.concat(await response.toArray()).toString();
      const { statusCode: status, headers } = response;
      resolve({ status, location: headers.location, certificate, body: text });
    });
    outgoing.end(body);
  });
}

test("a front without apps.conf, or with a line that is none, is not started", async () => {
  expect((await inClone("sh deploy/front/up.sh")).output).toMatch(/culvert: deploy\/front\/apps.conf: missing: copy/);
  const { code, output } = await useApps("shop.example\n");
  expect([code, output]).toEqual([
    1,
    expect.stringMatching(/culvert: deploy\/front\/apps\.conf: .* in \/front\/apps\.conf:\d+: mend the line/),
  ]);
});

test("two apps share one port: each has its own certificate, pages, events and releases", async () => {
  const { code, output } = await useApps(`shop.example ${prefix}-shop;\nblog.example ${prefix}-blog;\n`);
  expect(code, output).toBe(0);
  for (const app of ["shop", "blog"] as const) await compose(app, "up", "-d", "--no-build", "--wait", "web", "proxy");

  const recorder = new Recorder(`http://127.0.0.1:${process.env.RECORDER_PORT}`);
  const mark = await recorder.count();
  for (const app of ["shop", "blog"] as const) {
    expect(await ask(`${app}.example`, "/")).toMatchObject({
      status: 200,
      certificate: expect.stringContaining(`${app}.example`),
    });
    const envelope = `${JSON.stringify({ dsn: stack(app).SENTRY_DSN })}\n{"type":"event"}\n{}\n`;
    expect(await ask(`${app}.example`, "/monitoring", { body: envelope })).toMatchObject({ status: 200 });
    await recorder.waitFor(({ url }) => url.startsWith(`/api/${apps[app]}/envelope/`) || undefined, mark);
  }
  expect(await ask("shop.example", "/a?b", { tls: false })).toMatchObject({
    status: 308,
    location: "https://shop.example/a?b",
  });
  expect(await ask("other.example", "/", { tls: false })).toMatchObject({ status: 421 });
  await expect(ask("other.example", "/")).rejects.toThrow();

  let isDone = false;
  const statuses: unknown[] = [];
  const visitor = (async () => {
    while (!isDone) statuses.push(await ask("blog.example", "/healthz").then(({ status }) => status, String));
  })();
  await compose("shop", "up", "-d", "--no-build", "--force-recreate", "--wait", "web", "proxy");
  isDone = true;
  await visitor;
  expect(new Set(statuses)).toEqual(new Set([200]));
  // The new proxy has another address.
  await expect.poll(() => ask("shop.example", "/").then(({ status }) => status, String)).toBe(200);
});
