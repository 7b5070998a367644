import { describe, expect, onTestFailed, onTestFinished, test } from "vitest";
import { trusting, useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

const SENTRY_DSN = "http://verysecretkey@ingest:9000/7";
const shared = useProxy({ ...trusting, TUNNEL_CLIENT_IP: "truncate", SENTRY_DSN });

describe("the access log", () => {
  test("has one JSON line per request, with the ids of the event, and no query, cookie or full client IP", async () => {
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const secret = { cookie: "session=hunter2", authorization: "Bearer hunter2" };
    const headers = { "sentry-trace": `${trace}-b7ad6b7169203331-1`, ...secret };
    const { answer } = await shared.through({ path: "/find?token=hunter2", headers });
    const id = String(answer.headers["x-request-id"]);
    expect(await shared.proxy.logged(id)).toMatchObject({
      method: "GET",
      path: "/find",
      status: 200,
      trace_id: trace,
      upstream_status: "200",
      client: expect.stringMatching(/\.0$/),
    });
    expect((await shared.proxy.log()).split(id)).toHaveLength(2);
    expect(await shared.proxy.log()).not.toMatch(/hunter2|verysecretkey/);
  });
  test("has the outcome of an envelope", async () => {
    const requests = {
      "accepted ": {},
      "rejected method": { method: "GET", body: undefined },
      "rejected arguments": { path: "/monitoring?o=1&p=2" },
      "rejected content_type": { headers: { "content-type": "text/html" } },
      "rejected size": { body: Buffer.alloc((20 << 20) + 1) },
      "rejected path": { path: "/monitoring/x" },
    };
    const ids: [unknown, string][] = [];
    for (const [expected, request] of Object.entries(requests))
      ids.push([(await shared.post(request)).answer.headers["x-request-id"], expected]);
    for (const [id, expected] of ids) {
      const { outcome, reason } = await shared.proxy.logged(id);
      expect(`${outcome} ${reason}`).toBe(expected);
    }
  });
  test("has printable ASCII only, whatever a client sends", async () => {
    const path = "/ascii\u009b31m\u202e";
    for (const host of ["local\u009bhost", "localhost"])
      await shared.write(`GET ${path}?q=1 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const log = () => shared.proxy.log();
    await expect.poll(async () => (await log()).split('"path":"/ascii').length).toBeGreaterThan(2);
    expect(await log()).toMatch(/^[\n -~]*$/);
  });
});

describe("the internal port", () => {
  test("is ready once web has answered, and stays ready", async () => {
    const { proxy } = shared;
    onTestFinished(async () => void (await proxy.on("web", "kill", "--signal=CONT")));
    await proxy.on("web", "kill", "--signal=STOP");
    expect(await proxy.internal("/readyz")).toBe("ready\n");
    expect(await proxy.internal("/healthz")).toBe("ok\n");
  });
  test("counts requests and envelopes for Prometheus", async () => {
    const metrics = await shared.proxy.internal("/metrics");
    expect(metrics).toMatch(/^# TYPE culvert_requests_total counter\nculvert_requests_total\{/m);
    expect(metrics).toMatch(/^culvert_requests_total\{route="page",class="2xx"\} [1-9]/m);
    expect(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="accepted",reason=""\} [1-9]/m);
    expect(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="rejected",reason="size"\} [1-9]/m);
    expect(metrics).toMatch(/^culvert_tunnel_bytes_total [1-9]/m);
    expect(metrics).toMatch(/^# TYPE culvert_connections_active gauge\nculvert_connections_active \d+$/m);
    const expiry = await shared.proxy.metric("culvert_certificate_expiry_timestamp_seconds");
    // The development certificate: 820 days.
    expect(Math.round((expiry - Date.now() / 1000) / 86_400)).toBe(820);
  });
  test("gives the app's answers to the proxy's own container only", async () => {
    const path = `8081/web/api/ready?by=${Date.now()}`;
    const answer = await shared.proxy.on("proxy", "exec", "curl", "-sfi", `http://127.0.0.1:${path}`);
    expect(answer).toMatch(/^x-web: [\d.]+:9000/im);
    await expect(shared.proxy.internal(path.slice(4))).rejects.toThrow(": 403");
    expect((await shared.proxy.web.all()).filter(({ url }) => path === `8081/web${url}`)).toHaveLength(1);
  });
});

test("failures leave no client IP, query or key in the log either", async () => {
  const { proxy } = shared;
  const stopped = ["ingest", "web"] as const;
  onTestFailed(async () => void (await Promise.all(stopped.map((service) => proxy.restart(service)))));
  for (const service of stopped) await proxy.on(service, "stop", "-t", "0");
  const requests = {
    "/monitoring": "text/plain",
    "/monitoring/csp": "application/csp-report",
    "/find?token=hunter2": "text/plain",
    "/_next/static/x.js?token=hunter2": "text/plain",
  };
  const failed = Object.entries(requests).map(async ([path, type]) => {
    const headers = { "content-type": type, referer: "https://a.example/?token=hunter2" };
    const request = { method: "POST", path, client: "203.0.113.77", headers, body: Buffer.alloc(15_000) };
    return send(proxy.port, request);
  });
  for (const { status, headers } of await Promise.all(failed)) {
    expect(status).toBeGreaterThan(500);
    await proxy.logged(headers["x-request-id"]);
  }
  expect(await proxy.log()).not.toMatch(/hunter2|verysecretkey|203\.0\.113\.77|client:/);
});
