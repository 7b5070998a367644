import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type RequestOptions, request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { composeWith, doctor, must, run, takeDown, temporaryFolder } from "./run.ts";
import { makePair } from "./support/certificate.ts";
import { must as docker, IMAGES, isLocal, label, networkOf, projectName, root } from "./support/docker.ts";
import { codeBelow } from "./support/document.ts";
import { buildWithDebian } from "./support/images.ts";
import { bodyOf, headerOf, Recorder } from "./support/recorder/client.ts";
import type { RecordedRequest } from "./support/recorder/types.ts";

const startApache = "a2enmod -q ssl http2 headers proxy proxy_http && a2ensite -q culvert && apachectl -D FOREGROUND";
/** Programs that end TLS: a recipe of docs/behind-a-load-balancer.md, its place, and the command. */
const fronts: Record<string, string[]> = {
  HAProxy: ["haproxy.cfg", "/etc/haproxy/haproxy.cfg", "haproxy -W -db -f /etc/haproxy/haproxy.cfg"],
  Caddy: ["Caddyfile", "/etc/caddy/Caddyfile", "caddy run --config /etc/caddy/Caddyfile"],
  Nginx: ["nginx-site.conf", "/etc/nginx/conf.d/culvert.conf", "nginx -g 'daemon off;'"],
  Apache: ["apache-site.conf", "/etc/apache2/sites-available/culvert.conf", startApache],
};
const names = Object.keys(fronts);
const NAME = "app.example.com";
const added = (name: string) => codeBelow(name, "docs/tunnel-alone.md")[0];
/** Fronts of another app, with what docs/tunnel-alone.md adds for the tunnel. */
const besides: Record<string, string> = {
  "HAProxy-beside": `defaults
    mode http
frontend site
    bind :443 ssl crt /etc/haproxy/${NAME}.pem
    default_backend app
${added("HAProxy")}
backend app
    http-request return status 200 content-type text/plain string "another app"
`,
  "Caddy-beside": `${NAME} {\n${added("Caddy")}\nrespond "another app"\n}\n`,
  "Nginx-beside": `server {
    listen 443 ssl;
    ssl_certificate /etc/ssl/${NAME}.crt;
    ssl_certificate_key /etc/ssl/${NAME}.key;
    ${added("Nginx")}
    location / {
        return 200 "another app";
    }
}
`,
};
const all = [...names, ...Object.keys(besides)];

const project = projectName("fronts");
const subnet = networkOf(214);
const network = networkOf(216);
const network6 = `fd0c:14:${network.split(".")[2]}:`;
const hostOf = (name: string) => 17 + all.indexOf(name);
const stack = {
  IMAGES,
  WEB_EGRESS: "on",
  WEBSOCKET_PATH: "/socket",
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
const compose = composeWith(stack);
const ingest = new Recorder();
let app: Recorder;
const folder = temporaryFolder();
let hasRoutes = false;

beforeAll(async () => {
  const ipv6 = ["--ipv6", `--subnet=${network6}:/64`];
  hasRoutes = isLocal(await docker("network", "create", label, `--subnet=${network}.0/24`, ...ipv6, project));
  makePair(join(folder, NAME), [NAME]);
  const pair = ["crt", "key"].map((end) => readFileSync(join(folder, `${NAME}.${end}`), "utf8"));
  writeFileSync(join(folder, `${NAME}.pem`), pair.join(""));
  const started = compose("up", "-d", "--no-build", "--wait", "web", "proxy");
  const [image] = await Promise.all([buildWithDebian(), started]);
  app = new Recorder(`http://${await compose("port", "web", "9001")}`);
  await docker("network", "connect", "--alias=proxy", project, await compose("ps", "--quiet", "proxy"));
  await Promise.all(all.map((name) => startFront(name, image)));
});
beforeEach(() => app.answer({ status: 200, headers: {}, body: "{}" }));
afterAll(async () => {
  await run(["docker", "rm", "-f", ...all.map((name) => `${project}-${name}`)]);
  await takeDown(stack);
  await run(["docker", "network", "rm", project]);
});

const portOf = async (name: string, port: number) =>
  Number((await docker("port", `${project}-${name}`, `${port}/tcp`)).split(":").at(-1));
const ports: Record<string, number> = {};

/** Starts a front with its recipe. Only Culvert's address differs, and Caddy asks no CA. */
async function startFront(name: string, image: string): Promise<void> {
  const [recipe = "", at, start] = fronts[name.replace("-beside", "")] ?? [];
  const text = besides[name] ?? readFileSync(`${root}/deploy/front/${recipe}`, "utf8");
  const config = text.replaceAll("127.0.0.1:8080", "proxy:8080");
  writeFileSync(
    join(folder, name),
    recipe === "Caddyfile" ? `{\n\tlocal_certs\n\tskip_install_trust\n}\n${config}` : config,
  );
  const pair = ["crt", "key"].map((end) => `${NAME}.${end}:/etc/ssl/${NAME}.${end}`);
  const files = [`${name}:${at}`, ...pair, `${NAME}.pem:/etc/haproxy/${NAME}.pem`];
  const host = hostOf(name);
  await docker(
    "run",
    "-d",
    label,
    `--name=${project}-${name}`,
    "--publish=127.0.0.1::443",
    "--publish=127.0.0.1::80",
    `--network=${project}`,
    `--ip=${network}.${host}`,
    `--ip6=${network6}:${host.toString(16)}`,
    ...files.map((file) => `--volume=${folder}/${file}:ro`),
    "--entrypoint=sh",
    image,
    "-c",
    `exec 2>&1; ${start}`,
  );
  ports[name] = await portOf(name, 443);
  const answers = async () => expect(await ask(name, "/healthz").then(({ status }) => status, String)).toBe(200);
  await vi.waitFor(answers, { timeout: 600_000, interval: 300 }).catch(async (error) => {
    throw new Error(`${name}: ${error} ${await docker("logs", `${project}-${name}`)}`);
  });
}

/** `v6`: over IPv6, straight to the container. */
type Asked = RequestOptions & { body?: string | Buffer; v6?: boolean };
function open(name: string, path: string, { body, v6, headers, ...options }: Asked = {}) {
  const inner = { host: `${network6}:${hostOf(name).toString(16)}`, port: 443 };
  const where = v6 ? inner : { host: "127.0.0.1", port: ports[name] };
  const tls = { servername: NAME, rejectUnauthorized: false, agent: false };
  const outgoing = request({ ...where, ...tls, path, headers: { host: NAME, ...headers }, ...options });
  // Also when the answer came before the end of the body.
  outgoing.on("error", () => {}).end(body);
  return outgoing;
}
async function ask(name: string, path: string, asked?: Asked) {
  const [response] = await once(open(name, path, asked), "response");
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}
const post = (name: string, path: string, body: string | Buffer, headers = {}) =>
  ask(name, path, { method: "POST", body, headers });
const toldApp = async (path: string) => (await app.all()).findLast(({ url }) => url === path) as RecordedRequest;
const forgedClient: Record<string, string> = {
  "x-forwarded-proto": "http",
  "x-forwarded-for": "203.0.113.66",
  "x-forwarded-server": "evil.example",
  "x-forwarded-scheme": "http",
  forwarded: "for=203.0.113.66;host=evil.example;proto=http",
  "cf-connecting-ip": "203.0.113.66",
  "x-real-ip": "203.0.113.66",
  "true-client-ip": "203.0.113.66",
  "x-forwarded-ssl": "off",
  "x-forwarded-prefix": "/evil",
  "x-original-url": "/evil",
};
/** With the address that a client asks for: by what a front beside an app passes on, it harms itself only. */
const forged = { ...forgedClient, "x-forwarded-host": "evil.example", "x-forwarded-port": "1" };

describe.each(names)("behind %s", (name) => {
  test("an event stream is not held back, an upload of 20 MB arrives", async () => {
    const [first, rest] = ["data: first\n\n", "data: second\n\n"];
    await app.answer({ status: 200, headers: { "content-type": "text/event-stream" }, body: first, rest });
    const [response] = await once(open(name, "/events"), "response");
    let received = "";
    for await (const chunk of response) {
      if (received === "") await app.proceed();
      received += chunk;
    }
    expect(received).toBe(first + rest);
    await app.answer({ status: 200, headers: {}, body: "{}" });
    const body = Buffer.alloc(20_000_000, name);
    expect((await post(name, "/upload", body, { "content-length": body.length })).status).toBe(200);
    expect(Buffer.from((await toldApp("/upload")).body, "base64").equals(body)).toBe(true);
  });
  // From what web is told follow its cookies and links, and the headers of a page over TLS: proxy/test/trust.test.ts.
  test("redirects and what is too large speak of HTTPS and of the browser's port", async () => {
    await app.answer({ status: 307, headers: { location: "http://0.0.0.0:3000/trace" }, body: "" });
    const { status, headers } = await ask(name, "/redirect");
    expect([status, headers.location]).toEqual([307, `https://${NAME}/trace`]);
    const plain = ["--connect-to", `::127.0.0.1:${await portOf(name, 80)}`, `http://${NAME}/a?b`];
    expect(await must(["curl", "-sSo/dev/null", "-w%{redirect_url}", ...plain])).toBe(`https://${NAME}/a?b`);
    // Apache answers by itself when Culvert ends a body that it is still sending.
    if (name === "Apache") return;
    const large = await post(name, "/upload", "", { "content-length": 200_000_000 }).catch(String);
    expect(large).toMatchObject({ status: 413, headers: { "proxy-status": 'culvert; details="size"' } });
  });
  test("a WebSocket opens, and bytes go both ways", async () => {
    const handshake = { connection: "Upgrade", upgrade: "websocket", origin: `https://${NAME}` };
    const key = { "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" };
    const outgoing = open(name, "/socket", { headers: { ...handshake, ...key } });
    const [response, socket] = await Promise.race([once(outgoing, "upgrade"), once(outgoing, "response")]);
    expect(response.statusCode).toBe(101);
    socket.write("there and back");
    expect(String(await once(socket, "data"))).toBe("there and back");
    socket.destroy();
  });
  test("what a client says about itself means nothing: web and log have its real address", async () => {
    const { headers } = await ask(name, "/forged", { headers: { ...forged, "x-request-id": "forged" } });
    const told = await toldApp("/forged");
    const real = { host: NAME, "x-forwarded-host": NAME, "x-forwarded-proto": "https", "x-forwarded-port": "443" };
    for (const [header, value] of Object.entries({ ...real, "x-forwarded-for": `${network}.1` }))
      expect(headerOf(told, header), header).toBe(value);
    expect(told.rawHeaders.join()).not.toMatch(/evil|203\.0\.113\.66/);
    const lines = async () => (await compose("logs", "--no-log-prefix", "proxy")).split("\n");
    const line = async () => (await lines()).find((text) => text.includes(`${headers["x-request-id"]}`));
    await expect.poll(line).toContain(`"client":"${network}.1"`);
  });
  test("a client's IPv6 address is its own", async ({ skip }) => {
    skip(!hasRoutes, "no IPv6 route to containers here");
    await ask(name, "/ipv6", { v6: true });
    expect(headerOf(await toldApp("/ipv6"), "x-forwarded-for")).toBe(`${network6}:1`);
  });
});
test.each(all)("%s: envelopes and CSP reports reach the ingest, with the client's address", async (name) => {
  const mark = await ingest.count();
  const body = `${JSON.stringify({ dsn: stack.SENTRY_DSN })}\n{"type":"event"}\n{"front":"${name.padEnd(2_000_000)}"}\n`;
  expect((await post(name, "/monitoring", body, name in besides ? forgedClient : forged)).status).toBe(200);
  const envelope = await ingest.waitFor((sent) => (sent.url.startsWith("/api/3/envelope/") ? sent : undefined), mark);
  expect(bodyOf(envelope)).toBe(body);
  expect(headerOf(envelope, "x-sentry-forwarded-for")).toBe(`${network}.1`);
  expect((await post(name, "/monitoring/csp", "{}", { "content-type": "application/csp-report" })).status).toBe(200);
  await ingest.waitFor(({ url }) => url.startsWith("/api/3/security/") || undefined, mark);
});
test.each(Object.keys(besides))("%s: other paths are the app's", async (name) => {
  for (const path of ["/", "/monitoringx", "/monitoring/x", "/.culvert/health"])
    expect(await ask(name, path)).toMatchObject({ status: 200, body: "another app" });
});

test.each([
  ["http.yml", ["127.0.0.1:8080"], `${subnet}.1 `],
  ["container.yml", [], "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7"],
])("%s publishes no port but that of this machine", async (file, ports, trusted) => {
  const settings = { ...stack, COMPOSE_FILE: `docker-compose.yml:deploy/front/${file}`, TRUSTED_PROXIES: "" };
  const { proxy } = JSON.parse(await composeWith(settings)("config", "--format=json")).services;
  expect((proxy.ports ?? []).map((port: Record<string, string>) => `${port.host_ip}:${port.target}`)).toEqual(ports);
  expect(proxy.environment).toMatchObject({ TRUSTED_PROXIES: trusted, HTTPS_PORT: "443", HTTP3: "off" });
});

test("doctor finds nothing wrong with this layout but that its name is nobody's", async () => {
  const found = async () => (await doctor(stack)).output.match(/^✗ .*$/gm);
  await expect.poll(found).toEqual([expect.stringMatching(/^✗ public address +app\.example\.com does not/)]);
});
