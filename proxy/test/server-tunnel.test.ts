import { beforeEach, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { useProxy } from "./use-proxy.ts";
import { envelope, ok as well } from "./use-tunnel.ts";
import { send } from "./wire.ts";

const shared = useProxy(
  {
    TUNNEL_ALLOWED_DSNS: "http://second@o42.ingest.us.sentry.io:9000/43",
    TUNNEL_RATE_PER_CLIENT: "1",
  },
  { spool: true, ports: [8083] },
);
beforeEach(() => shared.proxy.ingest.answer(well));

const at = (path: string) => `http://127.0.0.1:${shared.proxy.portOf(8083)}${path}`;

/** Posts an envelope as web does (Node's SDK names no type), or what `init` says; with what ingest and web heard of it. */
async function post(path = "/envelopes", init: RequestInit = {}) {
  const [ingestMark, webMark] = [await shared.proxy.ingest.count(), await shared.proxy.web.count()];
  const answer = await fetch(at(path), { method: "POST", body: Buffer.from(envelope), ...init });
  const body = await answer.text();
  const received = await shared.proxy.ingest.all(ingestMark);
  return { answer, body, received, web: (await shared.proxy.web.count()) - webMark };
}

describe("an envelope of web itself", () => {
  test("reaches the ingest byte for byte, with allowed headers only", async () => {
    const headers = {
      "user-agent": "sentry.javascript.nextjs/10",
      cookie: "session=1",
      authorization: "Bearer 1",
      "x-sentry-auth": "Sentry sentry_key=1",
      "x-forwarded-for": "6.6.6.6",
      "x-spool-destination": "http://evil.example/",
    };
    const { answer, body, received } = await post("/envelopes", { headers });
    expect([answer.status, body]).toEqual([200, ""]);
    expect(received).toMatchObject([{ method: "POST", url: "/prefix/api/7/envelope/" }]);
    const [request] = received;
    if (!request) return;
    expect(Buffer.from(request.body, "base64").toString()).toBe(envelope);
    const names = request.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    // No client IP: that of a container says nothing.
    expect(names.sort()).toEqual(["content-length", "host", "user-agent"]);
    expect(headerOf(request, "user-agent")).toBe("sentry.javascript.nextjs/10");
  });

  test("may select a project as a browser may, and no other", async () => {
    expect((await post("/envelopes?o=42&p=43&r=us")).received[0]?.url).toBe("/api/43/envelope/");
    const { answer, received } = await post("/envelopes?o=42&p=44&r=us");
    expect([answer.status, received]).toEqual([403, []]);
  });

  test("is not limited as clients are, and does not use up their limits", async () => {
    for (let n = 0; n < 24; n++) {
      const requests = Array.from({ length: 50 }, () => fetch(at("/envelopes"), { method: "POST", body: envelope }));
      for (const answer of await Promise.all(requests)) {
        expect(answer.status).toBe(200);
        await answer.text();
      }
    }
    const client = await send(shared.proxy.port, { method: "POST", path: "/monitoring", body: envelope });
    expect(client.status).toBe(200);
  });

  test("is the server's in log and metrics, without a client IP", async () => {
    const { answer } = await post();
    const id = answer.headers.get("x-request-id");
    const line = async () =>
      (await shared.proxy.on("proxy", "logs")).split("\n").find((text) => text.includes(String(id)));
    await expect.poll(line).toBeDefined();
    expect(JSON.parse((await line()) ?? "")).toMatchObject({ route: "server", client: "", outcome: "accepted" });
    const metrics = await shared.proxy.internal("/metrics");
    expect(metrics).toMatch(/^culvert_server_envelopes_total\{outcome="accepted",reason=""\} [1-9]/m);
  });
});

describe("the listener accepts nothing else", () => {
  test.each([
    ["GET", 405, { method: "GET", body: null }],
    ["a CSP report", 415, { headers: { "content-type": "application/csp-report" } }],
    ["another type", 415, { headers: { "content-type": "text/html" } }],
  ])("%s gets %i", async (_, status, init) => {
    const { answer, received } = await post("/envelopes", init);
    expect([answer.status, received]).toEqual([status, []]);
  });

  const others = ["/", "/envelopes/", "/Envelopes", "/envelopes/csp", "/monitoring", "/healthz", "/metrics", "/web"];
  test.each([...others, "/_next/static/x.js", "/.culvert/unavailable.html"])("%s is 404", async (path) => {
    for (const method of ["POST", "GET"]) {
      const { answer, received, web } = await post(path, method === "GET" ? { method, body: null } : {});
      expect([answer.status, received, web]).toEqual([404, [], 0]);
    }
  });

  test("and the public port does not serve it: /envelopes is a page of web there", async () => {
    const [ingestMark, webMark] = [await shared.proxy.ingest.count(), await shared.proxy.web.count()];
    await send(shared.proxy.port, { method: "POST", path: "/envelopes", body: envelope });
    expect([await shared.proxy.ingest.count(), await shared.proxy.web.count()]).toEqual([ingestMark, webMark + 1]);
  });
});

test("the spool queues what the ingest cannot accept, and web is told; a client is not", async () => {
  await shared.proxy.ingest.answer({ ...well, instead: "reset" });
  const queued = await post();
  expect([queued.answer.status, queued.answer.headers.get("x-envelope-outcome")]).toEqual([200, "queued"]);
  const client = await send(shared.proxy.port, { method: "POST", path: "/monitoring", body: envelope });
  expect([client.status, client.headers["x-envelope-outcome"]]).toEqual([200, undefined]);

  const mark = await shared.proxy.ingest.count();
  await shared.proxy.ingest.answer(well);
  const delivered = await shared.proxy.ingest.waitFor((request) => request, mark);
  expect(Buffer.from(delivered.body, "base64").toString()).toContain('"message":"hello"');
  const { answer } = await post();
  expect(answer.headers.get("x-envelope-outcome")).toBeNull();
});
