import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Edge, startEdge } from "./edge.ts";
import { headerOf } from "./recorder/client.ts";
import { type Request, send } from "./wire.ts";

const envelope = '{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}\n{"type":"event"}\n{"message":"hello"}\n';
const ok = { status: 200, headers: { "content-type": "application/json" }, body: '{"id":"9ec7"}' };

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge(
    {
      TUNNEL_ALLOWED_DSNS: "http://second@o42.ingest.us.sentry.io:9000/43,http://third@o44.ingest.sentry.io:9000/45",
    },
    { ingestNames: ["o42.ingest.us.sentry.io", "o44.ingest.sentry.io"] },
  );
}, 120_000);
afterAll(() => edge?.stop());
beforeEach(() => edge.ingest.answer(ok));

const post = (request: Partial<Request> = {}) =>
  send(edge.port, {
    method: "POST",
    path: "/monitoring",
    headers: { "content-type": "text/plain;charset=UTF-8" },
    body: envelope,
    ...request,
  });

/** Sends, and returns the answer with what the ingest received of it; the proxy answers only after the ingest did. */
async function through(request: Partial<Request> = {}) {
  const mark = await edge.ingest.count();
  const answer = await post(request);
  return { answer, received: (await edge.ingest.all()).slice(mark) };
}

describe("an envelope reaches the project of its DSN and no other", () => {
  test.each([
    ["/monitoring", "ingest:9000", "/prefix/api/7/envelope/"],
    ["/monitoring?o=42&p=43&r=us", "o42.ingest.us.sentry.io:9000", "/api/43/envelope/"],
    ["/monitoring?o=44&p=45", "o44.ingest.sentry.io:9000", "/api/45/envelope/"],
  ])("POST %s", async (path, host, url) => {
    const { answer, received } = await through({ path });
    expect(answer).toMatchObject({ status: 200, body: '{"id":"9ec7"}' });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ method: "POST", url });
    expect(Buffer.from(received[0]?.body ?? "", "base64").toString()).toBe(envelope);
    expect(received[0] && headerOf(received[0], "host")).toBe(host);
  });
});

describe("arguments that name no served project get 403, and the ingest hears nothing", () => {
  test.each([
    "?o=42&p=44&r=us",
    "?o=42&p=43",
    "?o=42&p=43&r=de",
    "?o=43&p=43&r=us",
    "?o=42",
    "?p=43",
    "?o=&p=",
    "?p=43&o=42&r=us",
    "?o=42&p=43&r=us&r=us",
    "?o=42&o=42&p=43&r=us",
    "?o=%34%32&p=43&r=us",
    "?o=42&p=43&r=us&x=1",
    "?O=42&P=43&R=us",
    "?o=42&p=43&r=us.evil.example",
    "?o=42%26p=43",
    `?o=${"4".repeat(4000)}&p=43`,
  ])("%s", async (query) => {
    const { answer, received } = await through({ path: `/monitoring${query}` });
    expect(answer.status).toBe(403);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(JSON.parse(answer.body).reason).toBe("these arguments name no project that this tunnel serves");
    expect(received).toEqual([]);
  });
});

describe("what is no report is refused before the ingest hears of it", () => {
  test.each(["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"])("%s gets 405", async (method) => {
    const { answer, received } = await through({ method, body: undefined });
    expect(answer.status).toBe(405);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers.allow).toBe("POST");
    expect(received).toEqual([]);
  });
  test.each([
    "application/json",
    "multipart/form-data; boundary=x",
    "text/html",
    "application/x-www-form-urlencoded",
    "text/plainly",
  ])("%s gets 415", async (type) => {
    const { answer, received } = await through({ headers: { "content-type": type } });
    expect(answer.status).toBe(415);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(received).toEqual([]);
  });
  test("20 MB and a byte gets 413", async () => {
    const { answer, received } = await through({ body: Buffer.alloc((20 << 20) + 1) });
    expect(answer.status).toBe(413);
    expect(received).toEqual([]);
  });
  test.each(["/monitoring/", "/Monitoring", "/MONITORING/csp", "/monitoring/envelope", "/monitoring/csp/"])(
    "%s gets 404 from the proxy, never the app",
    async (path) => {
      const mark = await edge.web.count();
      const { answer, received } = await through({ path });
      expect(answer.status).toBe(404);
      expect(answer.headers["x-robots-tag"]).toBe("noindex");
      expect(received).toEqual([]);
      expect(await edge.web.count()).toBe(mark);
    },
  );
  test.each(["/%6donitoring", "//monitoring", "/x/../monitoring"])(
    "%s is the tunnel in another spelling",
    async (path) => {
      expect((await through({ path })).received).toHaveLength(1);
    },
  );
});

describe("bytes arrive as they were sent", () => {
  test.each([
    ["no Content-Type, as for a binary body", {}],
    ["Node's type", { "content-type": "application/x-sentry-envelope" }],
    ["gzip", { "content-type": "text/plain;charset=UTF-8", "content-encoding": "gzip" }],
    ["br", { "content-encoding": "br" }],
    ["zstd", { "content-encoding": "zstd" }],
  ])("%s", async (_, headers: Record<string, string>) => {
    const body = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 256));
    const { received } = await through({ headers, body });
    const request = received[0];
    expect(request && Buffer.from(request.body, "base64").equals(body)).toBe(true);
    expect(request && headerOf(request, "content-encoding")).toBe(headers["content-encoding"]);
    expect(request && headerOf(request, "content-type")).toBe(headers["content-type"]);
  });
  test("a 19 MB attachment", async () => {
    const body = Buffer.alloc(19 << 20, "culvert");
    const { answer, received } = await through({ body });
    expect(answer.status).toBe(200);
    expect(Buffer.from(received[0]?.body ?? "", "base64").equals(body)).toBe(true);
  });
  test("chunked, without a length", async () => {
    const { received } = await through({ headers: { "transfer-encoding": "chunked" } });
    expect(Buffer.from(received[0]?.body ?? "", "base64").toString()).toBe(envelope);
  });
});

describe("headers", () => {
  test("only the named ones reach the ingest", async () => {
    const forged = {
      cookie: "session=1",
      authorization: "Bearer x",
      "x-sentry-auth": "Sentry sentry_key=evil",
      "cf-connecting-ip": "6.6.6.6",
      "x-vercel-forwarded-for": "6.6.6.6",
      "x-sentry-forwarded-for": "6.6.6.6",
      "x-forwarded-for": "6.6.6.6",
      "x-real-ip": "6.6.6.6",
      forwarded: "for=6.6.6.6",
      referer: "https://a.example/?token=1",
      origin: "https://a.example",
      "x-anything": "1",
      "sentry-trace": "1",
    };
    const { received } = await through({
      headers: { "content-type": "text/plain", "user-agent": "a browser", ...forged },
    });
    const names = received[0]?.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
    expect(names?.sort()).toEqual(["content-length", "content-type", "host", "user-agent", "x-forwarded-for"]);
    expect(received[0]?.rawHeaders.join()).not.toContain("6.6.6.6");
  });
  test("only what the SDK reads comes back", async () => {
    await edge.ingest.answer({
      status: 429,
      headers: {
        "content-type": "application/json",
        "retry-after": "60",
        "x-sentry-rate-limits": "60:replay:organization",
        "set-cookie": ["a=1", "b=2"],
        "strict-transport-security": "max-age=9; preload",
        server: "relay",
        via: "1.1 google",
        "access-control-allow-origin": "*",
        "alt-svc": 'h3=":443"',
        "x-new": "1",
        link: "<x>",
        "x-accel-redirect": "/healthz",
      },
      body: '{"detail":"limited"}',
    });
    const { answer } = await through();
    expect(answer).toMatchObject({ status: 429, body: '{"detail":"limited"}' });
    expect(answer.headers).toMatchObject({
      "retry-after": "60",
      "x-sentry-rate-limits": "60:replay:organization",
      "cache-control": "no-store",
      server: "nginx",
    });
    expect(Object.keys(answer.headers).sort()).toEqual([
      ...["cache-control", "connection", "content-type", "date", "retry-after", "server", "transfer-encoding"],
      ...["x-content-type-options", "x-request-id", "x-sentry-rate-limits"],
    ]);
  });
});

describe("CSP reports go to the project's security endpoint, with the key added at the edge", () => {
  test.each([
    ["/monitoring/csp", "application/csp-report", "/prefix/api/7/security/?sentry_key=key"],
    ["/monitoring/csp", "application/reports+json", "/prefix/api/7/security/?sentry_key=key"],
    ["/monitoring/csp?o=42&p=43&r=us", "application/csp-report", "/api/43/security/?sentry_key=second"],
  ])("%s %s", async (path, type, url) => {
    const { answer, received } = await through({ path, headers: { "content-type": type }, body: '{"csp-report":{}}' });
    expect(answer.status).toBe(200);
    expect(received[0]).toMatchObject({ method: "POST", url });
  });
});
