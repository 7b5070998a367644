import { describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { envelope, ok, useTunnel } from "./use-tunnel.ts";

const shared = useTunnel();

describe("bytes arrive as they were sent", () => {
  test.each([
    ["no Content-Type, as for a binary body", {}],
    ["Node's type", { "content-type": "application/x-sentry-envelope" }],
    ["gzip", { "content-type": "text/plain;charset=UTF-8", "content-encoding": "gzip" }],
    ["br", { "content-encoding": "br" }],
    ["zstd", { "content-encoding": "zstd" }],
  ])("%s", async (_, headers: Record<string, string>) => {
    const body = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 256));
    const { received } = await shared.through({ headers, body });
    const request = received[0];
    expect(request && Buffer.from(request.body, "base64").equals(body)).toBe(true);
    expect(request && headerOf(request, "content-encoding")).toBe(headers["content-encoding"]);
    expect(request && headerOf(request, "content-type")).toBe(headers["content-type"]);
  });
  test("a 19 MB attachment", async () => {
    const body = Buffer.alloc(19 << 20, "culvert");
    const { answer, received } = await shared.through({ body });
    expect(answer.status).toBe(200);
    expect(Buffer.from(received[0]?.body ?? "", "base64").equals(body)).toBe(true);
  });
  test("chunked, without a length", async () => {
    const { received } = await shared.through({ headers: { "transfer-encoding": "chunked" } });
    expect(Buffer.from(received[0]?.body ?? "", "base64").toString()).toBe(envelope);
  });
});

describe("headers", () => {
  test("only allowed ones reach the ingest", async () => {
    const forged: Record<string, string> = { cookie: "session=1", authorization: "Bearer x", "x-anything": "1" };
    Object.assign(forged, { "x-sentry-auth": "Sentry sentry_key=evil", referer: "https://a.example/?token=1" });
    for (const name of "cf-connecting-ip x-vercel-forwarded-for x-sentry-forwarded-for x-forwarded-for x-real-ip forwarded".split(
      " ",
    ))
      forged[name] = "6.6.6.6";
    const passed = {
      "content-type": "text/plain",
      "user-agent": "a browser",
      origin: "https://a.example",
      "sec-ch-ua": '"Chromium";v="156"',
      "sec-ch-ua-model": '"Pixel 9"',
      "sec-ch-ua-platform": '"Windows"',
      "sec-ch-ua-platform-version": '"15.0.0"',
    };
    const { received } = await shared.through({ headers: { ...passed, ...forged } });
    const names = received[0]?.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
    const own = ["content-length", "host", "x-forwarded-for", "x-sentry-forwarded-for"];
    expect(names?.sort()).toEqual([...own, ...Object.keys(passed)].sort());
    for (const [name, value] of Object.entries(passed)) expect(received[0] && headerOf(received[0], name)).toBe(value);
    const address = received[0] && headerOf(received[0], "x-forwarded-for");
    expect(received[0] && headerOf(received[0], "x-sentry-forwarded-for")).toBe(address);
    expect(received[0]?.rawHeaders.join()).not.toContain("6.6.6.6");
  });
  test("a 404 of the ingest has noindex", async () => {
    await shared.proxy.ingest.answer({ status: 404, headers: {}, body: "" });
    const { answer } = await shared.through();
    expect([answer.status, answer.headers["x-robots-tag"]]).toEqual([404, "noindex"]);
  });
  test("only those that the SDK reads come back", async () => {
    await shared.proxy.ingest.answer({
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
    const { answer } = await shared.through();
    expect(answer).toMatchObject({ status: 429, body: '{"detail":"limited"}' });
    expect(answer.headers).toMatchObject({
      "retry-after": "60",
      "x-sentry-rate-limits": "60:replay:organization",
      "cache-control": "no-cache",
      server: "nginx",
    });
    expect(Object.keys(answer.headers).sort()).toEqual([
      ...["cache-control", "connection", "content-type", "date", "retry-after", "server", "transfer-encoding"],
      ...["x-content-type-options", "x-request-id", "x-sentry-rate-limits"],
    ]);
  });
});

test("headers that no ingest is known to send never reach a client, however they are written and in any order", async () => {
  const invented = Array.from({ length: 60 }, (_, n) => `${n % 2 ? "X-Invented" : "x-INVENTED"}-${n}`);
  // Nginx keeps these apart from other headers.
  const special = "Last-Modified ETag LOCATION Refresh www-authenticate Accept-Ranges Content-Language".split(" ");
  const sent = async (names: string[]) => {
    const added = names.map((name) => [name, "x"]);
    // The allowed ones between them: the order must not matter.
    const allowed = [["Retry-After", "1"], ...added.slice(30), ["X-Sentry-Rate-Limits", "1:replay:key"]];
    const headers = Object.fromEntries([...added.slice(0, 30), ...allowed, ["Content-Type", "application/json"]]);
    await shared.proxy.ingest.answer({ ...ok, headers });
    const { answer } = await shared.through();
    expect(answer).toMatchObject({ status: 200, body: "" });
    expect(answer.headers).toMatchObject({ "retry-after": "1", "x-sentry-rate-limits": "1:replay:key" });
    return Object.keys(answer.headers).sort();
  };
  const usual = await sent([]);
  for (const names of [invented.slice(7, 8), invented, invented.toReversed(), ...special.map((name) => [name])])
    expect(await sent(names), names.join()).toEqual(usual);
  expect(await sent([...special, ...invented.slice(0, 50)])).toEqual(usual);
});

describe("CSP reports go to the project's security endpoint, with the key added at the proxy", () => {
  test.each([
    ["/monitoring/csp", "application/csp-report", "/prefix/api/7/security/?sentry_key=key"],
    ["/monitoring/csp", "application/reports+json", "/prefix/api/7/security/?sentry_key=key"],
    ["/monitoring/csp?o=42&p=43&r=us", "application/csp-report", "/api/43/security/?sentry_key=second"],
  ])("%s %s", async (path, type, url) => {
    const { answer, received } = await shared.through({
      path,
      headers: { "content-type": type },
      body: '{"csp-report":{}}',
    });
    expect(answer.status).toBe(200);
    expect(received[0]).toMatchObject({ method: "POST", url });
  });
});
