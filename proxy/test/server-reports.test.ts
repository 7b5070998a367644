import { beforeEach, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { useEdge } from "./use-edge.ts";
import { envelope, ok as well } from "./use-tunnel.ts";
import { send } from "./wire.ts";

const shared = useEdge(
  {
    TUNNEL_ALLOWED_DSNS: "http://second@o42.ingest.us.sentry.io:9000/43",
    TUNNEL_RATE_PER_CLIENT: "1",
    TUNNEL_RATE_TOTAL: "1",
  },
  { ingestNames: ["o42.ingest.us.sentry.io"], spool: true },
);
beforeEach(() => shared.edge.ingest.answer(well));

const at = (path: string) => `http://127.0.0.1:${shared.edge.reportsPort}${path}`;

/** Posts an envelope as web does (Node's SDK names no type), or what `init` says; with what ingest and web heard of it. */
async function report(path = "/envelopes", init: RequestInit = {}) {
  const [ingestMark, webMark] = [await shared.edge.ingest.count(), await shared.edge.web.count()];
  const answer = await fetch(at(path), { method: "POST", body: Buffer.from(envelope), ...init });
  const body = await answer.text();
  const received = (await shared.edge.ingest.all()).slice(ingestMark);
  return { answer, body, received, web: (await shared.edge.web.count()) - webMark };
}

describe("a report of web itself", () => {
  test("reaches the ingest byte by byte, with no header but those named", async () => {
    const headers = {
      "user-agent": "sentry.javascript.nextjs/10",
      cookie: "session=1",
      authorization: "Bearer 1",
      "x-sentry-auth": "Sentry sentry_key=1",
      "x-forwarded-for": "6.6.6.6",
      "x-spool-destination": "http://evil.example/",
    };
    const { answer, body, received } = await report("/envelopes", { headers });
    expect([answer.status, body]).toEqual([200, '{"id":"9ec7"}']);
    expect(received).toMatchObject([{ method: "POST", url: "/prefix/api/7/envelope/" }]);
    const [request] = received;
    if (!request) return;
    expect(Buffer.from(request.body, "base64").toString()).toBe(envelope);
    const names = request.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    // No address: that of a container is nobody's.
    expect(names.sort()).toEqual(["content-length", "host", "user-agent"]);
    expect(headerOf(request, "user-agent")).toBe("sentry.javascript.nextjs/10");
  });

  test("may choose a project as a browser may, and no other", async () => {
    expect((await report("/envelopes?o=42&p=43&r=us")).received[0]?.url).toBe("/api/43/envelope/");
    const { answer, received } = await report("/envelopes?o=42&p=44&r=us");
    expect([answer.status, received]).toEqual([403, []]);
  });

  test("is not held to a visitor's limits, and takes nothing of them", async () => {
    for (let n = 0; n < 24; n++) {
      const lane = Array.from({ length: 50 }, () => fetch(at("/envelopes"), { method: "POST", body: envelope }));
      for (const answer of await Promise.all(lane)) {
        expect(answer.status).toBe(200);
        await answer.text();
      }
    }
    const visitor = await send(shared.edge.port, { method: "POST", path: "/monitoring", body: envelope });
    expect(visitor.status).toBe(200);
  });

  test("is called the server's in log and metrics, and has no address there", async () => {
    const { answer } = await report();
    const id = answer.headers.get("x-request-id");
    const line = async () =>
      (await shared.edge.on("proxy", "logs")).split("\n").find((text) => text.includes(String(id)));
    await expect.poll(line, { timeout: 10_000 }).toBeDefined();
    expect(JSON.parse((await line()) ?? "")).toMatchObject({ route: "server", client: "", outcome: "accepted" });
    const metrics = await shared.edge.on("proxy", "exec", "curl", "-sS", "http://127.0.0.1:8081/metrics");
    expect(metrics).toMatch(/^culvert_server_envelopes_total\{outcome="accepted",reason=""\} [1-9]/m);
  });
});

describe("the listener opens nothing else", () => {
  test.each(["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"])("%s gets 405", async (method) => {
    const { answer, received } = await report("/envelopes", { method, body: null });
    expect([answer.status, answer.headers.get("allow"), received]).toEqual([405, "POST", []]);
  });

  test.each(["application/json", "application/csp-report", "text/html"])("%s gets 415", async (type) => {
    const { answer, received } = await report("/envelopes", { headers: { "content-type": type } });
    expect([answer.status, received]).toEqual([415, []]);
  });

  const others = ["/", "/envelopes/", "/Envelopes", "/envelopes/csp", "/monitoring", "/healthz", "/metrics", "/web"];
  test.each([...others, "/_next/static/x.js", "/.culvert/unavailable.html"])("%s is 404", async (path) => {
    for (const method of ["POST", "GET"]) {
      const { answer, received, web } = await report(path, method === "GET" ? { method, body: null } : {});
      expect([answer.status, received, web]).toEqual([404, [], 0]);
    }
  });

  test("and the public port does not lead here: /envelopes is a page of web's there", async () => {
    const [ingestMark, webMark] = [await shared.edge.ingest.count(), await shared.edge.web.count()];
    for (const path of ["/envelopes", "/envelopes?o=42&p=43&r=us"]) {
      await send(shared.edge.port, { method: "POST", path, body: envelope, headers: { "content-type": "text/plain" } });
    }
    expect([(await shared.edge.ingest.count()) - ingestMark, (await shared.edge.web.count()) - webMark]).toEqual([
      0, 2,
    ]);
  });
});

test("what the ingest can't take now the spool keeps, and web is told so; a visitor is not", async () => {
  await shared.edge.ingest.answer({ ...well, instead: "reset" });
  const kept = await report();
  expect([kept.answer.status, kept.answer.headers.get("x-envelope-outcome")]).toEqual([200, "queued"]);
  expect(kept.body).toBe('{"id":"9ec79c33ec9942ab8353589fcb2e04dc"}');
  const visitor = await send(shared.edge.port, { method: "POST", path: "/monitoring", body: envelope });
  expect([visitor.status, visitor.headers["x-envelope-outcome"]]).toEqual([200, undefined]);

  const mark = await shared.edge.ingest.count();
  await shared.edge.ingest.answer(well);
  const delivered = await shared.edge.ingest.waitFor((request) => request, mark, 50_000);
  expect(Buffer.from(delivered.body, "base64").toString()).toContain('"message":"hello"');
  const { answer } = await report();
  expect(answer.headers.get("x-envelope-outcome")).toBeNull();
});

test("a report of 20 MB is taken, and no larger one", async () => {
  expect((await report("/envelopes", { body: Buffer.alloc(20 << 20) })).answer.status).toBe(200);
  const { answer, received } = await report("/envelopes", { body: Buffer.alloc((20 << 20) + 1) });
  expect([answer.status, received]).toEqual([413, []]);
});

test("with neither ingest nor spool web is told to keep it", async () => {
  await shared.edge.ingest.answer({ ...well, instead: "reset" });
  await shared.edge.on("spool", "stop", "-t", "0");
  const { answer } = await report();
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, null]);
});
