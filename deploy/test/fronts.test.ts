import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { must, run } from "./run.ts";
import { makePair } from "./support/certificate.ts";
import { must as docker, isLocal, label, root } from "./support/docker.ts";
import { buildImage } from "./support/images.ts";
import { headerOf, Recorder } from "./support/recorder/client.ts";

/** Each program that ends TLS, with its file in deploy/front as docs/behind-a-load-balancer.md says. */
const fronts = {
  HAProxy: {
    recipe: "haproxy.cfg",
    at: "/etc/haproxy/haproxy.cfg",
    start: "haproxy -W -db -f /etc/haproxy/haproxy.cfg",
  },
  Caddy: { recipe: "Caddyfile", at: "/etc/caddy/Caddyfile", start: "caddy run --config /etc/caddy/Caddyfile" },
  Nginx: { recipe: "nginx-site.conf", at: "/etc/nginx/conf.d/culvert.conf", start: "nginx -g 'daemon off;'" },
  Apache: {
    recipe: "apache-site.conf",
    at: "/etc/apache2/sites-available/culvert.conf",
    start: "a2enmod -q ssl http2 headers proxy proxy_http && a2ensite -q culvert && apachectl -D FOREGROUND",
  },
};
type Front = keyof typeof fronts;
const names = Object.keys(fronts) as Front[];
const NAME = "app.example.com";

const project = `culvert-fronts-${process.pid}`;
// The number of this copy of the tests' stack.
const stackNumber = (Number(process.env.HTTPS_PORT) - 18443) / 10;
const subnet = `10.214.${2 * stackNumber}`;
const network = `10.214.${2 * stackNumber + 1}`;
const network6 = `fd0c:14:${stackNumber + 1}:`;
const stack = {
  IMAGES: process.env.COMPOSE_PROJECT_NAME ?? "culvert",
  COMPOSE_PROJECT_NAME: project,
  COMPOSE_FILE: "docker-compose.yml:deploy/front/http.yml:deploy/test/fronts.compose.yml",
  SERVER_NAME: NAME,
  SENTRY_DSN: "http://culvert@recorder:9000/3",
  HTTP_PORT: String(Number(process.env.HTTP_PORT) + 8),
  FRONT_SUBNET: `${subnet}.0/24`,
  FRONT_GATEWAY: `${subnet}.1`,
  // The fronts' addresses, not the gateway from which this test asks.
  TRUSTED_PROXIES: `${network}.16/28 ${network6}:10/124`,
};
const compose = (...command: string[]) => must(["docker", "compose", ...command], stack);
const recorder = new Recorder(`http://127.0.0.1:${process.env.RECORDER_PORT}`);
const folder = mkdtempSync(join(tmpdir(), "culvert-fronts-"));

beforeAll(async () => {
  const ipv6 = ["--ipv6", `--subnet=${network6}:/64`];
  const id = await docker("network", "create", label, `--subnet=${network}.0/24`, ...ipv6, project);
  hasRoutes = isLocal(id);
  makePair(join(folder, NAME), [NAME]);
  const pair = ["crt", "key"].map((end) => readFileSync(join(folder, `${NAME}.${end}`), "utf8"));
  writeFileSync(join(folder, `${NAME}.pem`), pair.join(""));
  const [image] = await Promise.all([
    buildImage("deploy/test/support/fronts"),
    compose("up", "-d", "--no-build", "--wait", "web", "proxy"),
  ]);
  await Promise.all(names.map((name, index) => startFront(name, image, 17 + index)));
});
afterAll(async () => {
  await run(["docker", "rm", "-f", ...names.map((name) => `${project}-${name}`)]);
  await run(["docker", "compose", "--profile", "*", "down", "--volumes", "-t", "0"], stack);
  await run(["docker", "network", "rm", project]);
  rmSync(folder, { recursive: true });
});

let hasRoutes = false;
const ports: Partial<Record<Front, number>> = {};

/** Starts a front with its recipe. Only Culvert's address differs, and Caddy asks no CA. */
async function startFront(name: Front, image: string, host: number): Promise<void> {
  const { recipe, at, start } = fronts[name];
  const own = readFileSync(`${root}/deploy/front/${recipe}`, "utf8").replaceAll("127.0.0.1:8080", "proxy:8080");
  writeFileSync(join(folder, recipe), name === "Caddy" ? `{\n\tlocal_certs\n\tskip_install_trust\n}\n${own}` : own);
  const files = [`${recipe}:${at}`, ...["crt", "key"].map((end) => `${NAME}.${end}:/etc/ssl/${NAME}.${end}`)];
  const mounts = [...files, `${NAME}.pem:/etc/haproxy/${NAME}.pem`].map((one) => `--volume=${folder}/${one}:ro`);
  const address = [`--network=${project}`, `--ip=${network}.${host}`, `--ip6=${network6}:${host.toString(16)}`];
  const container = `${project}-${name}`;
  const options = [
    label,
    `--name=${container}`,
    ...address,
    "--publish=127.0.0.1::443",
    "--publish=127.0.0.1::80",
    ...mounts,
  ];
  await docker("run", "-d", ...options, "--entrypoint=sh", image, "-c", `exec 2>&1; ${start}`);
  ports[name] = Number((await docker("port", container, "443/tcp")).split(":").at(-1));
  const answers = async () => expect(await ask(name, "/healthz").then(({ status }) => status, String)).toBe(200);
  await vi.waitFor(answers, { timeout: 240_000, interval: 300 }).catch(async (error) => {
    throw new Error(`${name}: ${error} ${await docker("logs", container)}`);
  });
}

interface Asked extends RequestOptions {
  body?: string | Buffer;
  /** Over IPv6, straight to the container. */
  v6?: boolean;
}
interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}
/** Opens a request to a front, over a connection of its own unless it names an agent. */
function open(name: Front, path: string, { body, v6, headers, ...options }: Asked = {}) {
  const index = names.indexOf(name);
  const where = v6
    ? { host: `${network6}:${(17 + index).toString(16)}`, port: 443 }
    : { host: "127.0.0.1", port: ports[name] };
  const tls = { servername: NAME, rejectUnauthorized: false, agent: false };
  const outgoing = httpsRequest({ ...where, ...tls, path, headers: { host: NAME, ...headers }, ...options });
  outgoing.end(body);
  return outgoing;
}
/** Sends a request to a front and returns the answer; rejects without one. */
function ask(name: Front, path: string, asked?: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = open(name, path, asked).on("error", reject);
    outgoing.on("response", (response) => {
      const { statusCode: status = 0, headers } = response;
      text(response).then((body) => resolve({ status, headers, body }), reject);
    });
  });
}
const trace = "0af7651916cd43dd8448eb211c80319c";
const forged: Record<string, string> = {
  "x-forwarded-proto": "http",
  "x-forwarded-port": "1",
  "x-forwarded-for": "203.0.113.66",
  "x-forwarded-host": "evil.example",
  ...{ forwarded: "for=203.0.113.66;host=evil.example;proto=http", "cf-connecting-ip": "203.0.113.66" },
  ...{ "x-real-ip": "203.0.113.66", "true-client-ip": "203.0.113.66", "x-forwarded-server": "evil.example" },
  ...{
    "x-forwarded-scheme": "http",
    "x-forwarded-prefix": "/evil",
    "x-original-url": "/evil",
    "x-forwarded-ssl": "off",
  },
};
const echo = async (name: Front, asked?: Asked) => JSON.parse((await ask(name, "/test/echo", asked)).body);

describe.each(names)("behind %s", (name) => {
  test("a page and its files arrive, with the headers of a page over TLS", async () => {
    const page = await ask(name, "/trace", {
      headers: { accept: "text/html", "sentry-trace": `${trace}-b7ad6b7169203331-1` },
    });
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      "strict-transport-security": "max-age=31536000",
      "content-security-policy": expect.stringContaining("nonce-"),
      "x-content-type-options": "nosniff",
    });
    expect(page.headers["alt-svc"] ?? "").not.toContain("8443");
    // One trace, from the browser to the page.
    expect(page.body).toContain(`content="${trace}-`);
    const file = /\/_next\/static\/[^"]+\.js/.exec(page.body)?.[0] ?? "";
    expect(await ask(name, file)).toMatchObject({
      status: 200,
      headers: { "cache-control": expect.stringContaining("immutable") },
    });
  });
  test("an event stream is not held back, an upload of 20 MB arrives", async () => {
    const [response] = (await new Promise((resolve, reject) =>
      open(name, "/test/events")
        .on("error", reject)
        .on("response", (one) => resolve([one])),
    )) as [AsyncIterable<Buffer>];
    let received = "";
    for await (const chunk of response) {
      if (received === "") await ask(name, "/test/proceed");
      received += chunk;
    }
    expect(received).toBe("data: first\n\ndata: second\n\n");
    const body = Buffer.alloc(20_000_000, name);
    const sent = await ask(name, "/test/upload", { method: "POST", body, headers: { "content-length": body.length } });
    expect([sent.status, sent.body]).toEqual([200, createHash("sha256").update(body).digest("hex")]);
  });
  test("redirects, cookies and what is too large speak of HTTPS and of the browser's port", async () => {
    const { status, headers } = await ask(name, "/test/redirect");
    expect([status, headers.location]).toEqual([307, `https://${NAME}/trace`]);
    expect((await ask(name, "/test/echo")).headers["set-cookie"]).toEqual(["session=1; HttpOnly; Secure"]);
    expect((await ask(name, "/_next/static")).headers.location ?? "").not.toMatch(/8080|http:/);
    const port = Number((await docker("port", `${project}-${name}`, "80/tcp")).split(":").at(-1));
    const plain = [
      "curl",
      "-sSo/dev/null",
      "-w%{redirect_url}",
      "--connect-to",
      `::127.0.0.1:${port}`,
      `http://${NAME}/a?b`,
    ];
    expect(await must(plain)).toBe(`https://${NAME}/a?b`);
    // Apache answers by itself when Culvert ends a body that it is still sending.
    if (name === "Apache") return;
    const large = await ask(name, "/test/upload", { method: "POST", headers: { "content-length": 200_000_000 } }).catch(
      String,
    );
    expect(large).toMatchObject({ status: 413, headers: { "proxy-status": 'culvert; details="size"' } });
  });
  test("a WebSocket opens, and bytes go both ways", async () => {
    const received = await new Promise<string>((resolve, reject) => {
      const headers = { connection: "Upgrade", upgrade: "websocket", origin: `https://${NAME}` };
      const key = { "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" };
      const outgoing = open(name, "/socket", { headers: { ...headers, ...key } }).on("error", reject);
      outgoing.on("response", ({ statusCode }) => reject(new Error(`status ${statusCode}`)));
      outgoing.on("upgrade", (_, socket) => {
        socket.on("data", (chunk) => {
          socket.destroy();
          resolve(String(chunk));
        });
        socket.write("there and back");
      });
    });
    expect(received).toBe("there and back");
  });
  test("envelopes and CSP reports reach the ingest, with the client's address", async () => {
    const mark = await recorder.count();
    const body = `${JSON.stringify({ dsn: stack.SENTRY_DSN })}\n{"type":"event"}\n{"front":"${name}"}\n`;
    expect((await ask(name, "/monitoring", { method: "POST", body, headers: forged })).status).toBe(200);
    const envelope = await recorder.waitFor((one) => (one.url.startsWith("/api/3/envelope/") ? one : undefined), mark);
    expect(Buffer.from(envelope.body, "base64").toString()).toBe(body);
    expect(headerOf(envelope, "x-sentry-forwarded-for")).toBe(`${network}.1`);
    const report = { method: "POST", headers: { "content-type": "application/csp-report" }, body: "{}" };
    expect((await ask(name, "/monitoring/csp", report)).status).toBe(200);
    await recorder.waitFor((one) => one.url.startsWith("/api/3/security/") || undefined, mark);
  });
  test("what a client says about itself means nothing: web, log and ingest have its real address", async () => {
    const { headers, body } = await ask(name, "/test/echo", {
      headers: { ...forged, "x-request-id": "chosen-by-client" },
    });
    const told = JSON.parse(body);
    expect(told).toMatchObject({
      ...{ host: NAME, "x-forwarded-host": NAME, "x-forwarded-proto": "https", "x-forwarded-port": "443" },
      "x-forwarded-for": `${network}.1`,
    });
    expect(body).not.toMatch(/evil|203\.0\.113\.66/);
    const line = async () =>
      (await compose("logs", "--no-log-prefix", "proxy"))
        .split("\n")
        .find((one) => one.includes(`${headers["x-request-id"]}`) && one.includes("/test/echo"));
    await expect.poll(line).toContain(`"client":"${network}.1"`);
  });
  test("a client's IPv6 address is its own", async ({ skip }) => {
    skip(!hasRoutes, "no IPv6 route to containers here");
    expect(await echo(name, { v6: true })).toMatchObject({
      "x-forwarded-for": `${network6}:1`,
      "x-forwarded-proto": "https",
    });
  });
});

test("what is added to the compose file publishes no port but that of this machine", async () => {
  const configured = async (file: string) => {
    const files = { ...stack, COMPOSE_FILE: `docker-compose.yml:deploy/front/${file}`, TRUSTED_PROXIES: "" };
    const { proxy } = JSON.parse(await must(["docker", "compose", "config", "--format=json"], files)).services;
    return [
      (proxy.ports ?? []).map((one: Record<string, string>) => `${one.host_ip}:${one.target}`),
      proxy.environment.TRUSTED_PROXIES,
    ];
  };
  expect(await configured("http.yml")).toEqual([["127.0.0.1:8080"], `${subnet}.1 `]);
  expect(await configured("container.yml")).toEqual([[], "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7"]);
});

test("doctor finds nothing wrong with this layout but that its name is nobody's", async () => {
  const { output } = await run(["sh", "deploy/checks/host/doctor.sh"], { BASE_URL: "", ...stack });
  expect(output.match(/^✗ .*$/gm), output).toEqual([
    expect.stringMatching(/^✗ public address +app\.example\.com does not/),
  ]);
});
