import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { docker, label } from "../../deploy/test/support/docker.ts";
import { type Edge, startEdge } from "./edge.ts";
import { send } from "./wire.ts";

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ TUNNEL_CLIENT_IP: "truncate", SENTRY_DSN: "http://verysecretkey@ingest:9000/7" });
});
afterAll(() => edge?.stop());

/** The access log's lines about one request, as soon as there is one; and the whole log so far. */
async function logged(id: string | string[] | undefined) {
  for (;;) {
    const output = await edge.on("proxy", "logs");
    const lines = output.split("\n").filter((line) => line.startsWith("{"));
    const mine = lines.map((line) => JSON.parse(line)).filter((entry) => entry.request_id === id);
    if (mine.length > 0) return { output, mine };
  }
}

const inside = (path: string) =>
  edge.on("proxy", "exec", "curl", "-sS", "-w", "\n%{http_code}", `http://127.0.0.1:8081${path}`);

describe("the access log", () => {
  test("has one JSON line a request, with ids that lead to the event and no query, cookie or address in full", async () => {
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const { headers } = await send(edge.port, {
      path: "/find?token=hunter2",
      headers: {
        "sentry-trace": `${trace}-b7ad6b7169203331-1`,
        cookie: "session=hunter2",
        authorization: "Bearer hunter2",
      },
    });
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
  test("takes the trace id from traceparent too", async () => {
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const { headers } = await send(edge.port, {
      path: "/w3c",
      headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01` },
    });
    expect((await logged(headers["x-request-id"])).mine).toMatchObject([{ trace_id: trace }]);
  });
  test.each([
    ["accepted", "", { method: "POST", path: "/monitoring", body: "{}" }],
    ["rejected", "method", { path: "/monitoring" }],
    ["rejected", "arguments", { method: "POST", path: "/monitoring?o=1&p=2", body: "{}" }],
    [
      "rejected",
      "content_type",
      { method: "POST", path: "/monitoring", headers: { "content-type": "text/html" }, body: "{}" },
    ],
    ["rejected", "size", { method: "POST", path: "/monitoring", body: Buffer.alloc((20 << 20) + 1) }],
    ["rejected", "path", { path: "/monitoring/x" }],
  ])("says of a report that it was %s %s", async (outcome, reason, request) => {
    const { headers } = await send(edge.port, request);
    expect((await logged(headers["x-request-id"])).mine).toMatchObject([{ outcome, reason }]);
  });
});

describe("the internal port", () => {
  test("is ready once web has answered, and stays so", async () => {
    expect(await inside("/readyz")).toBe("ready\n\n200");
    await edge.on("web", "pause");
    expect(await inside("/readyz")).toBe("ready\n\n200");
    await edge.on("web", "unpause");
    expect(await inside("/healthz")).toBe("ok\n\n200");
  });
  test("counts requests and reports for Prometheus", async () => {
    const metrics = await inside("/metrics");
    expect(metrics).toMatch(/^culvert_requests_total\{route="page",class="2xx"\} [1-9]/m);
    expect(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="accepted",reason=""\} 1$/m);
    expect(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="rejected",reason="size"\} 1$/m);
    expect(metrics).toMatch(/^culvert_tunnel_bytes_total [1-9]/m);
    expect(metrics).toMatch(/^culvert_connections_active [1-9]/m);
    const expiry = Number(metrics.match(/^culvert_certificate_expiry_timestamp_seconds (\d+)$/m)?.[1]);
    // The development certificate: 820 days.
    expect(Math.round((expiry - Date.now() / 1000) / 86_400)).toBe(820);
  });
  test("is nowhere to be found from outside", async () => {
    const mark = await edge.web.count();
    await send(edge.port, { path: "/metrics" });
    expect(await edge.web.count()).toBe(mark + 1);
  });
});

describe("what fails leaves no address, query or key in the log either", () => {
  const secrets = { TUNNEL_CLIENT_IP: "withhold", SENTRY_DSN: "http://verysecretkey@ingest:9000/7" };
  let failing: Edge;
  beforeAll(async () => {
    failing = await startEdge({ ...secrets, TRUSTED_PROXIES: "0.0.0.0/0" });
    for (const service of ["ingest", "web"] as const) await failing.on(service, "stop", "-t", "0");
  });
  afterAll(() => failing?.stop());
  test.each([
    ["a report", "/monitoring", "text/plain"],
    ["a CSP report", "/monitoring/csp", "application/csp-report"],
    ["a page", "/find?token=hunter2", "text/plain"],
    ["a file", "/_next/static/x.js?token=hunter2", "text/plain"],
  ])("%s", async (_, path, type) => {
    const { headers, status } = await send(failing.port, {
      method: "POST",
      path,
      headers: { "content-type": type, "x-forwarded-for": "203.0.113.77", referer: "https://a.example/?token=hunter2" },
      body: Buffer.alloc(20_000),
    });
    expect(status).toBeGreaterThan(500);
    const log = () => failing.on("proxy", "logs");
    await expect.poll(log, { timeout: 10_000 }).toContain(headers["x-request-id"]);
    expect(await log()).not.toMatch(/hunter2|verysecretkey|203\.0\.113\.77|client:/);
  });
});

test("not ready while web was never found", async () => {
  const lonely = await docker(
    ...["run", "-d", label, "--env=SENTRY_DSN=http://k@h/1", await edge.on("proxy", "inspect", "--format={{.Image}}")],
  );
  const id = lonely.output.trim();
  let answer = "";
  while (!answer.endsWith("503")) {
    answer = (await docker("exec", id, "curl", "-sS", "-w", "\n%{http_code}", "http://127.0.0.1:8081/readyz")).output;
  }
  await docker("rm", "-f", "-v", id);
  expect(answer).toContain("web can not be reached");
});
