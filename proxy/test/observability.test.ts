import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { docker, label, must } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { startProxy, type TestProxy } from "./proxy.ts";
import { raw, send } from "./wire.ts";

let proxy: TestProxy;
beforeAll(async () => {
  const SENTRY_DSN = "http://verysecretkey@ingest:9000/7";
  proxy = await startProxy({ TUNNEL_CLIENT_IP: "truncate", SENTRY_DSN });
});
afterAll(() => proxy?.stop());

/** The access log's lines about one request, as soon as there is one; and the whole log so far. */
async function logged(id: string | string[] | undefined) {
  // Nginx writes once a second.
  for (; ; await pause(500)) {
    const output = await proxy.on("proxy", "logs");
    const lines = output.split("\n").filter((line) => line.startsWith("{"));
    const mine = lines.map((line) => JSON.parse(line)).filter((entry) => entry.request_id === id);
    if (mine.length > 0) return { output, mine };
  }
}

describe("the access log", () => {
  test("has one JSON line per request, with the ids of the event, and no query, cookie or full client IP", async () => {
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const secret = { cookie: "session=hunter2", authorization: "Bearer hunter2" };
    const headersSent = { "sentry-trace": `${trace}-b7ad6b7169203331-1`, ...secret };
    const { headers } = await send(proxy.port, { path: "/find?token=hunter2", headers: headersSent });
    const { output, mine } = await logged(headers["x-request-id"]);
    expect(mine).toHaveLength(1);
    expect(mine[0]).toMatchObject({
      method: "GET",
      path: "/find",
      status: 200,
      trace_id: trace,
      upstream_status: "200",
    });
    expect(mine[0].client).toMatch(/\.0$/);
    expect(output).not.toMatch(/hunter2|verysecretkey/);
  });
  test("has the trace id of a traceparent too", async () => {
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const sent = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
    const { headers } = await send(proxy.port, { path: "/w3c", headers: sent });
    expect((await logged(headers["x-request-id"])).mine).toMatchObject([{ trace_id: trace }]);
  });
  test.each([
    ["accepted", "", {}],
    ["rejected", "method", { method: "GET", body: undefined }],
    ["rejected", "arguments", { path: "/monitoring?o=1&p=2" }],
    ["rejected", "content_type", { headers: { "content-type": "text/html" } }],
    ["rejected", "size", { body: Buffer.alloc((20 << 20) + 1) }],
    ["rejected", "path", { path: "/monitoring/x" }],
  ])("has the outcome of an envelope: %s %s", async (outcome, reason, request) => {
    const { headers } = await send(proxy.port, { method: "POST", path: "/monitoring", body: "{}", ...request });
    expect((await logged(headers["x-request-id"])).mine).toMatchObject([{ outcome, reason }]);
  });
});

describe("the internal port", () => {
  test("is ready once web has answered, and stays ready", async () => {
    expect(await proxy.internal("/readyz")).toBe("ready\n");
    await proxy.on("web", "kill", "--signal=STOP");
    expect(await proxy.internal("/readyz")).toBe("ready\n");
    await proxy.on("web", "kill", "--signal=CONT");
    expect(await proxy.internal("/healthz")).toBe("ok\n");
  });
  test("counts requests and envelopes for Prometheus", async () => {
    const metrics = await proxy.internal("/metrics");
    expect(metrics).toMatch(/^culvert_requests_total\{route="page",class="2xx"\} [1-9]/m);
    expect(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="accepted",reason=""\} 1$/m);
    expect(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="rejected",reason="size"\} 1$/m);
    expect(metrics).toMatch(/^culvert_tunnel_bytes_total [1-9]/m);
    expect(metrics).toMatch(/^culvert_connections_active \d+$/m);
    const expiry = Number(metrics.match(/^culvert_certificate_expiry_timestamp_seconds (\d+)$/m)?.[1]);
    // The development certificate: 820 days.
    expect(Math.round((expiry - Date.now() / 1000) / 86_400)).toBe(820);
  });
  test("gives the app's answers to the proxy's own container only", async () => {
    const path = "8081/web/api/ready?by=proxy";
    expect(await proxy.on("proxy", "exec", "curl", "-sfi", `http://127.0.0.1:${path}`)).toMatch(
      /^x-web: [\d.]+:9000/im,
    );
    await expect(proxy.internal(path.slice(4))).rejects.toThrow(": 403");
    expect((await proxy.web.all()).filter(({ url }) => url === "/api/ready?by=proxy")).toHaveLength(1);
  });
  test("is not reachable from outside", async () => {
    const mark = await proxy.web.count();
    await send(proxy.port, { path: "/metrics" });
    expect(await proxy.web.count()).toBe(mark + 1);
  });
});

test.each(["/readyz", "/_next/static/chunks/0123456789abcdef.js"])(
  "what the proxy asks web for itself is not recorded by Sentry's SDK: %s",
  async (path) => {
    if (path.startsWith("/_next/")) await send(proxy.port, { path });
    else await proxy.internal(path);
    const asked = path.startsWith("/_next/") ? path : "/healthz";
    const requests = (await proxy.web.all()).filter(({ url }) => url === asked);
    expect(requests.length).toBeGreaterThan(0);
    for (const request of requests) expect(headerOf(request, "sentry-trace")).toMatch(/^[0-9a-f]{32}-[0-9a-f]{16}-0$/);
  },
);

test("the log has printable ASCII only, whatever a client sends", async () => {
  const path = "/find\u009b31m\u202e";
  await raw(proxy.port, `GET ${path}?q=1 HTTP/1.1\r\nHost: local\u009bhost\r\nConnection: close\r\n\r\n`);
  await raw(proxy.port, `GET ${path}?q=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  await expect.poll(() => proxy.on("proxy", "logs")).toContain('"path":"/find"');
  expect(await proxy.on("proxy", "logs")).toMatch(/^[\n -~]*$/);
});

describe("failures leave no client IP, query or key in the log either", () => {
  const secrets = { TUNNEL_CLIENT_IP: "withhold", SENTRY_DSN: "http://verysecretkey@ingest:9000/7" };
  let failing: TestProxy;
  beforeAll(async () => {
    failing = await startProxy({ ...secrets, TRUSTED_PROXIES: "0.0.0.0/0" });
    for (const service of ["ingest", "web"] as const) await failing.on(service, "stop", "-t", "0");
  });
  afterAll(() => failing?.stop());
  test.each([
    ["an envelope", "/monitoring", "text/plain", 20_000],
    ["a CSP report", "/monitoring/csp", "application/csp-report", 20_000],
    ["a page", "/find?token=hunter2", "text/plain", 20_000],
    ["a file", "/_next/static/x.js?token=hunter2", "text/plain", 10_000],
  ])("%s", async (_, path, type, size) => {
    const { headers, status } = await send(failing.port, {
      method: "POST",
      path,
      headers: { "content-type": type, "x-forwarded-for": "203.0.113.77", referer: "https://a.example/?token=hunter2" },
      body: Buffer.alloc(size),
    });
    expect(status).toBeGreaterThan(500);
    const log = () => failing.on("proxy", "logs");
    await expect.poll(log).toContain(headers["x-request-id"]);
    expect(await log()).not.toMatch(/hunter2|verysecretkey|203\.0\.113\.77|client:/);
  });
});

test("not ready until web was found once", async () => {
  const id = await must("run", "-d", label, "--network=none", "--env=SENTRY_DSN=http://k@h/1", await build());
  const curl = ["curl", "-sS", "-w", "\n%{http_code}", "http://127.0.0.1:8081/readyz"];
  const answer = async () => (await docker("exec", id, ...curl)).output;
  await expect.poll(answer).toMatch(/web cannot be reached.*\n503$/s);
  await docker("rm", "-f", "-v", id);
});
