import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { certificate } from "../../checks/certificate.ts";
import { parseDsn } from "../../checks/dsn.ts";
import { ingest, serverTunnel } from "../../checks/host/delivery.ts";
import { checkStack } from "../../checks/host/doctor.ts";
import type { Facts } from "../../checks/host/facts.ts";
import type { Target } from "../../checks/http.ts";
import { envelopeUrl } from "../../checks/ingest.ts";
import { checkOutside, tunnel } from "../../checks/outside/doctor.ts";
import { page, publicAddress, redirect } from "../../checks/outside/site.ts";
import type { Result } from "../../checks/result.ts";
import { temporary } from "../run.ts";
import { makePair } from "../support/certificate.ts";

const [pair, other] = [temporary("site", ""), temporary("other", "")];
makePair(pair, ["localhost"]);
makePair(other, ["other.example"]);

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
async function site(listener: RequestListener): Promise<Target> {
  const port = await secure(listener);
  return { host: "127.0.0.1", port, name: "localhost", publicPort: port, basePath: "", tunnelPath: "/monitoring" };
}
const lines = (results: Result[]) =>
  results.map(({ check, state, found, fix }) => `${check} ${state} ${found}: ${fix}`);
const dsn = (port: number, scheme = "http", host = "localhost") => `${scheme}://0123456789abcdef@${host}:${port}/1`;

const tlsIngest = async (caFile = "", own = pair, scheme = "https") =>
  ingest(dsn(await secure(answer(200), own), scheme), caFile);
const ingestWith = async (status: number, headers = {}) => ingest(dsn(await plain(answer(status, headers))));
const tunnelWith = async (status: number, sent = "") => tunnel(await site(answer(status)), sent);
const publicWith = async (status: number, headers = {}, more: Partial<Target> = {}) =>
  publicAddress({ ...(await site(answer(status, headers))), ...more });
const pageWith = async (status: number, headers = {}) => page(await site(answer(status, headers)), "/");
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
  ["an ingest that fails", () => ingestWith(503), /^ingest failed .* 503 .*the ingest's own log/],
  ["a name without address", () => ingest(dsn(80, "http", "no-such-host.invalid")), /^ingest failed .* not resolve/],
  ["a closed port", () => ingest(dsn(1)), /^ingest failed localhost refuses connections: is the port/],
  ["a private CA", () => tlsIngest(), /self signed cert: .*INGEST_CA_FILE/],
  ["a certificate for another name", () => tlsIngest(`${other}.crt`, other), /for another name: name it in SENTRY_DSN/],
  ["a port without TLS", async () => ingest(dsn(await plain(answer(200)), "https")), /no TLS at this port: http:/],
  ["another private CA", () => tlsIngest(`${other}.crt`), /self signed cert: INGEST_CA_FILE .*lacks the CA/],
  ["TLS for plain HTTP", () => tlsIngest("", pair, "http"), /speaks TLS at this port: https:\/\/ in SENTRY/],
  ["a redirect", () => ingestWith(302, { Location: "https://x/" }), /302 .*\(to https:\/\/x\/\): no redirect/],
  ["a limit of bodies", () => ingestWith(413), / 413 .*: what is in front of the ingest limits bodies/],
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

/** A site that reads the PROXY protocol's header before TLS. */
async function proxied(): Promise<Target> {
  const inner = await site(answer(200));
  const server = createTcpServer((socket) => {
    socket.once("data", (bytes) => {
      socket.unshift(bytes.subarray(bytes.indexOf("\n") + 1));
      socket.pipe(connect(inner.port, "127.0.0.1")).pipe(socket);
    });
  });
  return { ...inner, port: await listen(server), proxyProtocol: true };
}
test.each<[string, inner: () => Promise<Target>, front: string, state: Result["state"]]>([
  ["ends TLS", () => site(answer(200)), other, "warning"],
  ["ends TLS and speaks the PROXY protocol", proxied, other, "warning"],
  ["passes TLS on", proxied, pair, "failed"],
  ["is not reached", () => site(answer(200)), "", "warning"],
  ["is not reached and speaks the PROXY protocol", proxied, "", "failed"],
])("an untrusted certificate, if what is in front %s", async (_, inner, front, state) => {
  const publicPort = front ? await secure(answer(200), front) : 1;
  const results = await certificate({ ...(await inner()), publicPort }, ["app.example"], { front: "10.0.0.0/8" });
  expect(results.at(-1)).toMatchObject({ state, found: "depth zero self signed cert" });
});

type States = Record<string, string>;
const notAccepted: States = { ingest: "failed", tunnel: "skipped", "server tunnel": "skipped", envelopes: "skipped" };
const badProxy: States = { proxy: "failed", ingest: "ok", page: "skipped", certificate: "skipped" };
const badWeb: States = { web: "failed", page: "skipped", tunnel: "warning", certificate: "warning" };

// No probe is sent that the spool would queue.
test.each<[string, answers: boolean, health: States, states: States]>([
  ["the ingest accepts no envelopes", false, { proxy: "healthy" }, { ...notAccepted, page: "failed" }],
  ["the proxy is not healthy", true, { proxy: "unhealthy", web: "healthy" }, badProxy],
  ["web is not healthy", true, { proxy: "healthy", web: "unhealthy" }, badWeb],
])("while %s, what follows from it is skipped, and nothing else", async (_, answers, health, states) => {
  const SENTRY_DSN = dsn(answers ? await plain(answer(200)) : 1);
  const running = { HostConfig: { RestartPolicy: { Name: "" } }, NetworkSettings: { Networks: {} } };
  const containers = Object.entries(health).map(([service, Status]) => ({
    ...running,
    Name: service,
    service,
    environment: { SENTRY_DSN },
    State: { Status: "running", Health: { Status, Log: [] } },
  }));
  const log = answers ? [] : Array(20).fill({ outcome: "failed", reason: "unreachable" });
  const names = { saved: 0, unread: [], spaced: [] };
  const results = await checkStack({ configured: {}, containers, log, unreadable: [], names } as unknown as Facts);
  expect(Object.fromEntries(results.map(({ check, state }) => [check, state]))).toMatchObject(states);
});
