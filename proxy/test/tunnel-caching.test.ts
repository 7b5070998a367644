import { Agent } from "node:https";
import { getTunnelPath } from "@sentry/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startProxy, type TestProxy } from "./proxy.ts";
import { envelope, ok } from "./use-tunnel.ts";
import { type Request, send } from "./wire.ts";

const dsn = "http://key@ingest:9000/prefix/7";
const well = { ...ok, headers: { ...ok.headers, "cache-control": "no-store" } };

let proxy: TestProxy;
beforeAll(async () => {
  proxy = await startProxy({ SENTRY_DSN: dsn, TUNNEL_RATE_PER_CLIENT: "1" }, { spool: true, ports: [8083] });
});
afterAll(() => proxy?.stop());

const post = (request: Partial<Request> = {}, agent?: Agent) =>
  send(proxy.port, { method: "POST", path: "/monitoring", body: envelope, ...request }, agent);
const typed = (type: string): Partial<Request> => ({ headers: { "content-type": type } });
const csp = { path: "/monitoring/csp", body: "{}" };

/** As web sends it. */
async function postAsServer(path: string, init: RequestInit = {}) {
  const url = `http://127.0.0.1:${proxy.portOf(8083)}${path}`;
  const answer = await fetch(url, { method: "POST", body: Buffer.from(envelope), ...init });
  await answer.arrayBuffer();
  return { status: answer.status, headers: Object.fromEntries(answer.headers) };
}

/** More large bodies of one client than the tunnel receives at once. The ingest holds back its answers, so the rejection comes first. */
async function exceedCapacity() {
  const mark = await proxy.ingest.count();
  await proxy.ingest.answer({ ...well, rest: " " });
  const answers = Array.from({ length: 5 }, () => post({ body: Buffer.alloc(2 << 20) }));
  const first = await Promise.race(answers);
  await expect.poll(() => proxy.ingest.count()).toBe(mark + 4);
  await proxy.ingest.proceed();
  await Promise.all(answers);
  return first;
}

async function exceedRate() {
  const agent = new Agent({ keepAlive: true });
  let answer = await post({}, agent);
  for (let n = 0; n < 2_000 && answer.status === 200; n++) answer = await post({}, agent);
  agent.destroy();
  return answer;
}

test.each<[string, number, () => Promise<{ status: number; headers: Record<string, unknown> }>]>([
  ["the ingest's", 200, () => post()],
  ["the ingest's on the SDK's own path", 200, () => post({ path: getTunnelPath(dsn) ?? "" })],
  ["the ingest's to a CSP report", 200, () => post({ ...csp, ...typed("application/csp-report") })],
  ["the ingest's to web", 200, () => postAsServer("/envelopes")],
  ["other arguments", 403, () => post({ path: "/monitoring?o=1&p=2" })],
  ["another method", 405, () => post({ method: "GET", body: undefined })],
  ["another type", 415, () => post(typed("text/html"))],
  ["a CSP report of another type", 415, () => post({ ...csp, ...typed("text/html") })],
  ["another path", 404, () => post({ path: "/monitoring/x" })],
  ["too large", 413, () => post({ body: Buffer.alloc((20 << 20) + 1) })],
  ["headers above 32 kB", 431, () => post({ headers: { cookie: "c".repeat(40_000) } })],
  ["another host", 421, () => post({ host: "other.example" })],
  ["no capacity", 503, exceedCapacity],
  ["web: another path", 404, () => postAsServer("/")],
  ["web: another method", 405, () => postAsServer("/envelopes", { method: "PUT" })],
  ["the ingest's rejection", 400, () => answered({ status: 400 }, post)],
  ["the ingest's rate limit", 429, () => answered({ status: 429 }, post)],
  ["the spool's", 200, () => answered({ status: 500 }, post)],
  ["the spool's rejection", 400, () => answered({ status: 500 }, () => post({ body: "no JSON\n" }))],
  ["rate limited", 429, exceedRate],
  ["neither", 503, () => proxy.on("spool", "stop", "-t", "0").then(() => answered({ status: 500 }, otherClient))],
])("no response of the tunnel says no-store: %s", async (_, status, request) => {
  await proxy.ingest.answer(well);
  const { headers, ...answer } = await request();
  expect(answer.status).toBe(status);
  expect(`${headers["cache-control"]}`).not.toContain("no-store");
  if (status === 200) expect(headers["content-length"]).toBe("0");
});

/** What `request` gets while the ingest answers so. */
async function answered<T>(answer: { status: number }, request: () => Promise<T>): Promise<T> {
  await proxy.ingest.answer({ ...well, ...answer });
  return request();
}

/** web is not rate limited. */
const otherClient = () => postAsServer("/envelopes");
