import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { certificate } from "../../checks/certificate.ts";
import { ingest, serverTunnel } from "../../checks/host/delivery.ts";
import { checkStack } from "../../checks/host/doctor.ts";
import type { Facts } from "../../checks/host/facts.ts";
import type { Target } from "../../checks/http.ts";
import { envelopeUrl, isDsn } from "../../checks/ingest.ts";
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
const secure = (listener: RequestListener, keyPair = pair) =>
  listen(createTlsServer({ key: readFileSync(`${keyPair}.key`), cert: readFileSync(`${keyPair}.crt`) }, listener));
async function site(listener: RequestListener): Promise<Target> {
  const port = await secure(listener);
  return { host: "127.0.0.1", port, name: "localhost", publicPort: port, basePath: "", tunnelPath: "/monitoring" };
}
const lines = (results: Result[]) =>
  results.map(({ check, state, found, fix }) => `${check} ${state} ${found}: ${fix}`);
const dsn = (port: number, scheme = "http") => `${scheme}://0123456789abcdef@localhost:${port}/1`;

const tlsIngest = async (caFile = "", keyPair = pair, scheme = "https") =>
  ingest(dsn(await secure(answer(200), keyPair), scheme), caFile);
const ingestWith = async (status: number, headers = {}) => ingest(dsn(await plain(answer(status, headers))));
const tunnelWith = async (status: number, sent = "") => tunnel(await site(answer(status)), sent);
const publicWith = async (status: number, headers = {}) => publicAddress(await site(answer(status, headers)));
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
/** A front that passes on the tunnel only. */
const besideAnApp: RequestListener = (request, response) =>
  answer(404, request.url === "/monitoring" ? { "X-Request-Id": "1" } : {})(request, response);
const forbidden = { "Content-Security-Policy": "connect-src https://api.example" };

test("the ingest gets a probe envelope without an event", async () => {
  let sent = "";
  const port = await plain(async (request, response) => {
    sent = `${request.url} ${(await request.toArray()).join("")}`;
    response.end();
  });
  expect(lines(await ingest(dsn(port)))).toEqual([expect.stringMatching(/^ingest ok localhost:\d+ \(project 1\)/)]);
  expect(sent).toMatch(/^\/api\/1\/envelope\/ \{.*"name":"culvert\.doctor".*\}\n\{"type":"client_report"\}\n/);
});

test("what the proxy takes as a DSN is one here", () => {
  const { valid } = JSON.parse(readFileSync(new URL("../vectors/dsn.json", import.meta.url), "utf8"));
  for (const [text, url] of Object.entries(valid)) expect([isDsn(text), envelopeUrl(text).href]).toEqual([true, url]);
});

// An ingest and a site that do not resolve, and a tunnel elsewhere: stack.test.ts and fronts.test.ts.
test.each<[says: RegExp, () => Promise<Result[]>]>([
  [/^ingest failed .* 503 .*the ingest's own log/, () => ingestWith(503)],
  [/^ingest failed localhost refuses connections: is the port/, () => ingest(dsn(1))],
  [/self signed cert: .*INGEST_CA_FILE/, () => tlsIngest()],
  [/for another name: name it in SENTRY_DSN/, () => tlsIngest(`${other}.crt`, other)],
  [/no TLS at this port: http:/, async () => ingest(dsn(await plain(answer(200)), "https"))],
  [/self signed cert: INGEST_CA_FILE .*lacks the CA/, () => tlsIngest(`${other}.crt`)],
  [/speaks TLS at this port: https:\/\/ in SENTRY/, () => tlsIngest("", pair, "http")],
  [/302 .*\(to https:\/\/x\/\): no redirect/, () => ingestWith(302, { Location: "https://x/" })],
  [/ 413 .*: what is in front of the ingest limits bodies/, () => ingestWith(413)],
  [/^ingest ok/, () => tlsIngest(`${pair}.crt`)],
  [/^tunnel failed .*neither ingest nor spool/, () => tunnelWith(503, dsn(1))],
  [/^tunnel ok/, () => tunnelWith(405)],
  [/^server tunnel failed the spool queued/, () => serverTunnelWith("queued")],
  [/^redirect ok/, () => redirectWith(308, { Location: "https://localhost/" })],
  [/^redirect failed .*: 200/, () => redirectWith(200)],
  [/^public address ok/, async () => publicAddress(await site(besideAnApp))],
  [/^public address failed .*not this proxy/, () => publicWith(200)],
  [/^public address failed .*SERVER_NAME/, () => publicWith(421)],
  [/^public address failed .*101/, async () => publicAddress(await site(switching))],
  [/^public address failed .*ECONNREFUSED/, () => outside({ publicPort: 1 })],
  [/^page failed \/ answers 500/, () => pageWith(500)],
  [/^csp failed .*connect-src https:.*add 'self'/, () => pageWith(200, forbidden)],
])("one line says %s", async (says, check) => {
  expect(lines(await check())).toEqual([expect.stringMatching(says)]);
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
  ["the ingest accepts no envelopes", false, { proxy: "healthy", web: "healthy" }, { ...notAccepted, page: "failed" }],
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
  const configured = Object.fromEntries(Object.keys(health).map((service) => [service, {}]));
  const results = await checkStack({ configured, containers, log, unreadable: [], names } as unknown as Facts);
  expect(Object.fromEntries(results.map(({ check, state }) => [check, state]))).toMatchObject(states);
  const ids = results.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(results.flatMap(({ follows = [] }) => follows)));
});
