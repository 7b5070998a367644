import { mkdtempSync, readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { parseDsn } from "../../checks/dsn.ts";
import { ingest, serverTunnel } from "../../checks/host/delivery.ts";
import { checkStack } from "../../checks/host/doctor.ts";
import type { Facts } from "../../checks/host/facts.ts";
import type { Target } from "../../checks/http.ts";
import { envelopeUrl } from "../../checks/ingest.ts";
import { checkAddress, checkOutside, tunnel } from "../../checks/outside/doctor.ts";
import { page, publicAddress, redirect } from "../../checks/outside/site.ts";
import type { Result } from "../../checks/result.ts";
import { makePair } from "../support/certificate.ts";

const pair = join(mkdtempSync(join(tmpdir(), "culvert-doctor-")), "site");
makePair(pair, ["localhost"]);
const other = `${pair}-other`;
makePair(other, ["other.example"]);

/** Listens until the test ends, and returns the port. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const answer =
  (status: number, headers: Record<string, string> = {}): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status, headers).end();
  };
const plain = (listener: RequestListener) => listen(createServer(listener));
const secure = (listener: RequestListener, own = pair) =>
  listen(createTlsServer({ key: readFileSync(`${own}.key`), cert: readFileSync(`${own}.crt`) }, listener));
/** Returns a target that answers so, in the proxy's place. */
async function site(listener: RequestListener): Promise<Target> {
  const port = await secure(listener);
  return { host: "127.0.0.1", port, name: "localhost", publicPort: port, basePath: "", tunnelPath: "/monitoring" };
}
const lines = (results: Result[]) =>
  results.map(({ check, state, found, fix }) => `${check} ${state} ${found}: ${fix}`);
const dsn = (port: number, scheme = "http", host = "localhost") => `${scheme}://0123456789abcdef@${host}:${port}/1`;

const tlsIngest = async (caFile = "", own = pair) => ingest(dsn(await secure(answer(200), own), "https"), caFile);
const tunnelWith = async (status: number, sent = "") => tunnel(await site(answer(status)), sent);
const publicWith = async (status: number, headers = {}, more: Partial<Target> = {}) =>
  publicAddress({ ...(await site(answer(status, headers))), ...more });
const pageWith = async (status: number, headers = {}) => page(await site(answer(status, headers)), "/", ["localhost"]);
const redirectWith = async (status: number, headers = {}) =>
  redirect(await site(answer(200)), await plain(answer(status, headers)));
const serverTunnelWith = async (outcome: string) => {
  const port = await plain(answer(200, { "X-Envelope-Outcome": outcome }));
  return serverTunnel(`http://127.0.0.1:${port}/envelopes`, dsn(1));
};
const outside = async (more: Partial<Target>) => checkOutside({ ...(await site(answer(200))), ...more });
const switching: RequestListener = (_, { socket }) =>
  socket?.end("HTTP/1.1 101 Fine\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
const forbidden = { "Content-Security-Policy": "connect-src https://api.example" };

test("the ingest gets a probe envelope without an event", async () => {
  let sent = "";
  const port = await plain(async (request, response) => {
    sent = `${request.url} ${(await request.toArray()).join("")}`;
    response.end();
  });
  expect(lines(await ingest(dsn(port)))).toEqual([expect.stringMatching(/^ingest ok localhost \(project 1\)/)]);
  expect(sent).toMatch(/^\/api\/1\/envelope\/ \{.*"name":"culvert\.doctor".*\}\n\{"type":"client_report"\}\n/);
});

test("what the proxy takes as a DSN is one here", () => {
  const { valid } = JSON.parse(readFileSync(new URL("../vectors/dsn.json", import.meta.url), "utf8"));
  for (const [one, url] of Object.entries(valid)) expect([!!parseDsn(one), envelopeUrl(one).href]).toEqual([true, url]);
});

test.each<[string, () => Promise<Result[]>, RegExp]>([
  ["an ingest that fails", async () => ingest(dsn(await plain(answer(503)))), /^ingest failed .* 503 .*its own log/],
  ["a name without address", () => ingest(dsn(80, "http", "no-such-host.invalid")), /^ingest failed .* not resolve/],
  ["a closed port", () => ingest(dsn(1)), /^ingest failed localhost refuses connections: is the port/],
  ["a private CA", () => tlsIngest(), /self signed cert: .*INGEST_CA_FILE/],
  ["a certificate for another name", () => tlsIngest(`${other}.crt`, other), /for another name: name it in SENTRY_DSN/],
  ["a port without TLS", async () => ingest(dsn(await plain(answer(200)), "https")), /no TLS at this port: http:/],
  ["the private CA's file", () => tlsIngest(`${pair}.crt`), /^ingest ok/],
  ["one that does not", () => tunnelWith(503, dsn(1)), /^tunnel failed .*neither ingest nor spool/],
  ["one without a DSN", () => tunnelWith(405), /^tunnel ok/],
  ["a page in its place", () => tunnelWith(404), /^tunnel failed GET \/monitoring answers 404/],
  ["events that only the spool accepts", () => serverTunnelWith("queued"), /^server tunnel failed the spool queued/],
  ["plain HTTP that redirects", () => redirectWith(308, { Location: "https://localhost/" }), /^redirect ok/],
  ["plain HTTP", () => redirectWith(200), /^redirect failed .*: 200/],
  ["the proxy", () => publicWith(404, { "X-Request-Id": "1" }), /^public address ok/],
  ["another server", () => publicWith(200), /^public address failed .*not this proxy/],
  ["another name's site", () => publicWith(421), /^public address failed .*SERVER_NAME/],
  ["a site that switches protocols", async () => publicAddress(await site(switching)), /^public address failed .*101/],
  ["a name without record", () => publicWith(200, {}, { name: "no-such-host.invalid" }), /point its DNS record here/],
  ["nothing that listens", () => outside({ publicPort: 1 }), /^public address failed .*ECONNREFUSED/],
  ["an error page", () => pageWith(500), /^page failed \/ answers 500/],
  ["a policy that forbids the tunnel", () => pageWith(200, forbidden), /^csp failed .*connect-src https:.*add 'self'/],
])("%s", async (_, check, line) => {
  expect(lines(await check())).toEqual([expect.stringMatching(line)]);
});

test("from outside, a page cannot write control characters to the terminal", async () => {
  const policy = "connect-src \x1b[31m\x07\x9b31m\u202e https://api.example";
  const { publicPort } = await site((_, response) => {
    response.setHeader("X-Request-Id", "1");
    response.end(`<meta http-equiv="Content-Security-Policy" content="${policy}">`);
  });
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  await checkAddress(`https://localhost:${publicPort}`);
  const output = log.mock.calls.join("\n");
  log.mockRestore();
  process.exitCode = 0;
  expect(output).toMatch(/connect-src .*https:\/\/api\.example/);
  expect(output).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
});

/** Checks a stack whose containers have no address here: the states of what is asked, by check. `health` is that of each service. */
async function stateOfStack(port: number, health: Record<string, string>, log: object[] = []) {
  const running = { HostConfig: { RestartPolicy: { Name: "" } }, NetworkSettings: { Networks: {} } };
  const containers = Object.entries(health).map(([service, Status]) => ({
    ...{ ...running, Name: service, service, environment: { SENTRY_DSN: dsn(port) } },
    State: { Status: "running", Health: { Status, Log: [] } },
  }));
  const names = { saved: 0, unread: [], spaced: [] };
  const results = await checkStack({ configured: {}, containers, log, unreadable: [], names } as unknown as Facts);
  return Object.fromEntries(results.map(({ check, state }) => [check, state]));
}

test("while the ingest accepts no envelopes, no probe is sent that the spool would queue, and what follows is skipped", async () => {
  const log = Array(20).fill({ outcome: "failed", reason: "unreachable" });
  expect(await stateOfStack(1, { proxy: "healthy" }, log)).toMatchObject({
    ...{ ingest: "failed", tunnel: "skipped", "server tunnel": "skipped", envelopes: "skipped", page: "failed" },
  });
});

test("if a container is not healthy, what fails of it follows from it, and nothing else", async () => {
  const port = await plain(answer(200));
  const ofProxy = await stateOfStack(port, { proxy: "unhealthy", web: "healthy" });
  expect(ofProxy).toMatchObject({ proxy: "failed", ingest: "ok", page: "skipped", certificate: "skipped" });
  const ofWeb = await stateOfStack(port, { proxy: "healthy", web: "unhealthy" });
  expect(ofWeb).toMatchObject({ web: "failed", page: "skipped", tunnel: "warning", certificate: "warning" });
});
