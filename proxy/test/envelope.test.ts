import { describe, expect, test } from "vitest";
import { ok, threeProjects, useProxy } from "./use-proxy.ts";
import { send, sendH2 } from "./wire.ts";

const TUNNEL_ALLOWED_ORIGINS = "https://a.example, HTTPS://A.example:443 capacitor://localhost";
const shared = useProxy({ ...threeProjects(), TUNNEL_ALLOWED_ORIGINS });

const binary = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 256));
test.each<[string, Record<string, string>, Buffer]>([
  ["no Content-Type, as for a binary body", {}, binary],
  ["Node's type, compressed", { "content-type": "application/x-sentry-envelope", "content-encoding": "gzip" }, binary],
  ["a 19 MB attachment", {}, Buffer.alloc(19 << 20, "culvert")],
  ["chunked, without a length", { "transfer-encoding": "chunked" }, binary],
])("bytes arrive as they were sent: %s", async (_, headers, body) => {
  const { answer, received, header } = await shared.post({ headers, body });
  expect(answer.status).toBe(200);
  expect(Buffer.from(received[0]?.body ?? "", "base64").equals(body)).toBe(true);
  for (const name of ["content-type", "content-encoding"]) expect(header(name)).toBe(headers[name]);
});

test("only allowed request headers reach the ingest", async () => {
  const addresses = ["cf-connecting-ip", "x-vercel-forwarded-for", "x-sentry-forwarded-for", "x-forwarded-for"];
  const forged = {
    cookie: "session=1",
    authorization: "Bearer x",
    "x-anything": "1",
    "x-sentry-auth": "Sentry sentry_key=evil",
    referer: "https://a.example/?token=1",
    ...Object.fromEntries([...addresses, "x-real-ip", "forwarded"].map((name) => [name, "6.6.6.6"])),
  };
  const passed = {
    "content-type": "text/plain",
    "user-agent": "a browser",
    origin: "https://a.example",
    "sec-ch-ua": '"Chromium";v="156"',
    "sec-ch-ua-model": '"Pixel 9"',
    "sec-ch-ua-platform": '"Windows"',
    "sec-ch-ua-platform-version": '"15.0.0"',
  };
  const { received, header } = await shared.post({ headers: { ...passed, ...forged } });
  const { rawHeaders = [] } = received[0] ?? {};
  const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  const added = ["content-length", "host", "x-forwarded-for", "x-sentry-forwarded-for"];
  expect(names.sort()).toEqual([...added, ...Object.keys(passed)].sort());
  for (const [name, value] of Object.entries(passed)) expect(header(name)).toBe(value);
  expect(header("x-sentry-forwarded-for")).toBe(header("x-forwarded-for"));
  expect(rawHeaders.join()).not.toContain("6.6.6.6");
});

describe("a page of another origin", () => {
  const exposed = "Retry-After, X-Request-Id, X-Sentry-Rate-Limits";
  test.each(["https://a.example", "capacitor://localhost", "https://localhost:3000", "http://127.0.0.1"])(
    "%s, which is allowed, may send an envelope and read the response",
    async (origin) => {
      const cors = { "access-control-allow-origin": origin, "access-control-expose-headers": exposed };
      await shared.proxy.ingest.answer({ ...ok, status: 429 });
      const posted = await shared.post({ headers: { origin, "sec-fetch-site": "same-site" } });
      const received = [{ url: "/prefix/api/7/envelope/" }];
      expect(posted).toMatchObject({ answer: { status: 429, headers: cors }, received });

      const headers = { origin, "access-control-request-method": "POST", "access-control-request-headers": "x-a" };
      const preflight = await shared.post({ method: "OPTIONS", headers, body: undefined });
      const more = { "access-control-allow-methods": "POST", "access-control-allow-headers": "*" };
      expect(preflight).toMatchObject({ answer: { status: 204, headers: { ...cors, ...more } }, received: [] });
    },
  );
  test.each([
    "https://b.example",
    "https://a.example:444",
    "https://localhost.b.example",
    "https://evil.example|https://localhost",
    "null",
  ])("%s, which is not allowed, gets 403 before anything is stored", async (origin) => {
    for (const method of ["POST", "OPTIONS"]) {
      const { answer, received } = await shared.post({ method, headers: { origin, "sec-fetch-site": "cross-site" } });
      expect([answer.status, received]).toEqual([403, []]);
      expect(JSON.parse(answer.body).reason).toMatch(/TUNNEL_ALLOWED_ORIGINS$/);
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    }
  });
  test("is none if the browser says that it is the app's own, whatever names a load balancer has changed", async () => {
    const headers = { origin: "https://www.example.com", "sec-fetch-site": "same-origin" };
    const { answer } = await shared.post({ headers });
    expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([200, undefined]);
  });
});

describe("only response headers that the SDK reads come back, however they are written and in any order", () => {
  const known = "Strict-Transport-Security Server Via Access-Control-Allow-Origin Alt-Svc Link X-Accel-Redirect";
  // Nginx keeps these apart from other headers.
  const special = "Last-Modified ETag LOCATION Refresh www-authenticate Accept-Ranges Content-Language";
  const invented = Array.from({ length: 50 }, (_, n) => `${n % 2 ? "X-Invented" : "x-INVENTED"}-${n}`);
  const names = [...known.split(" "), ...invented, ...special.split(" ")];
  const others = [["Set-Cookie", ["a=1", "b=2"]], ...names.map((name) => [name, "x"])];
  test.each([
    ["of an accepted envelope", 200, others],
    ["of an accepted envelope, the other way round", 200, others.toReversed()],
    ["of a rate limit", 429, others],
  ])("%s", async (_, status, added) => {
    const allowed = [["Retry-After", "60"], ...added.slice(30), ["X-Sentry-Rate-Limits", "60:replay:organization"]];
    const headers = Object.fromEntries([...added.slice(0, 30), ...allowed, ["Content-Type", "application/json"]]);
    await shared.proxy.ingest.answer({ ...ok, status, headers });
    const { answer } = await shared.post();
    expect(answer).toMatchObject({
      status,
      body: status === 200 ? "" : ok.body,
      headers: {
        "retry-after": "60",
        "x-sentry-rate-limits": "60:replay:organization",
        "cache-control": "no-cache",
        server: "nginx",
      },
    });
    const framing = status === 200 ? "content-length" : "transfer-encoding";
    expect(
      Object.keys(answer.headers)
        .filter((name) => name !== framing)
        .sort(),
    ).toEqual([
      "cache-control",
      "connection",
      "content-type",
      "date",
      "retry-after",
      "server",
      "x-content-type-options",
      "x-request-id",
      "x-sentry-rate-limits",
    ]);
  });
});

test.each([
  ["HTTP/1.1", "{", send],
  ["HTTP/2", "{", sendH2],
  ["HTTP/2", "x".repeat(200_000), sendH2],
])("the response to an accepted envelope ends over %s, though the ingest's own goes on: %#", async (_, body, by) => {
  const { ingest } = shared.proxy;
  await ingest.answer({ ...ok, body, rest: "}" });
  const { answer } = await shared.post({}, by);
  expect(answer).toMatchObject({ status: 200, body: "", headers: { "content-length": "0" } });
  await ingest.proceed();
});

test("a CSP report of any page goes to the project's security endpoint, with the key added at the proxy", async () => {
  const path = "/monitoring/csp?o=42&p=43&r=us";
  const headers = { origin: "null", "content-type": "application/reports+json" };
  const { answer, received } = await shared.post({ path, headers, body: "[]" });
  expect(answer.status).toBe(200);
  expect(received).toMatchObject([{ method: "POST", url: "/api/43/security/?sentry_key=second" }]);
});
