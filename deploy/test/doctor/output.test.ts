import { expect, test } from "vitest";
import { parseFacts } from "../../doctor/facts.ts";
import { parseMetrics } from "../../doctor/metrics.ts";
import { exitStatus, format } from "../../doctor/output.ts";
import { outsideTarget } from "../../doctor/outside.ts";
import { failed, ok, unknown } from "../../doctor/result.ts";
import { secrets } from "../../doctor/secrets.ts";
import { screen } from "../../doctor/status.ts";

const key = "0123456789abcdef0123456789abcdef";
const dsn = `https://${key}@o1.ingest.sentry.io/2`;

test("a line for each result, with what to do; status 1 when one failed", () => {
  const results = [ok("spool", "empty"), unknown("trace", "none"), failed("redirect", "port 80 is closed", "open it")];
  expect(format(results, false)).toBe(
    "✓ spool             empty\n? trace             none\n✗ redirect          port 80 is closed: open it",
  );
  expect(exitStatus(results)).toBe(1);
  expect(exitStatus(results.slice(0, 2))).toBe(0);
  expect(JSON.parse(format(results, true))).toEqual({ failed: 1, checks: results });
});

test.each([false, true])("no secret is printed (json: %s)", (json) => {
  const facts = parseFacts(
    [
      "== config",
      JSON.stringify({
        services: {
          web: { environment: { CACHE_PASSWORD: "hunter22", CACHE_URL: "rediss://me:s3cret99@cache" } },
          bare: {},
        },
      }),
      "== containers",
      JSON.stringify([
        {
          Id: "1",
          Name: "/web",
          RestartCount: 0,
          State: {},
          Config: { Env: [`TUNNEL_ALLOWED_DSNS=x ${dsn}`, "SENTRY_DSNS"], Labels: {} },
        },
      ]),
    ].join("\n"),
  );
  const leaky = failed(
    "dsn",
    `SENTRY_DSNS ${dsn} and ${key} and hunter22`,
    `s3cret99 tok-123456 ?sentry_key=short http://a:b@ingest/1`,
  );
  const text = format([leaky], json, secrets(facts, { SENTRY_AUTH_TOKEN: "tok-123456", TLS_KEY_FILE: "/key.pem" }));
  for (const secret of [key, "hunter22", "s3cret99", "tok-123456", "sentry_key=short", "a:b@"])
    expect(text).not.toContain(secret);
  expect(text).toContain("o1.ingest.sentry.io/2");
  // A variable without a value, as compose passes on what is not set, is no secret.
  expect(text).toContain("SENTRY_DSNS");
});

test("the local ingest's key, a word of its own, masks nothing", () => {
  expect([...secrets(undefined, { SENTRY_DSN: "http://culvert@ingest:8969/1" })]).toEqual([]);
});

test("an invalid BASE_URL is a one-line error", () => {
  expect(() => outsideTarget("http://app.example.com", "/monitoring")).toThrow(
    "culvert: BASE_URL: 'http://app.example.com' is not an https address: use one such as https://app.example.com",
  );
  expect(outsideTarget("https://[::1]:8443/shop/", "/monitoring")).toMatchObject({
    host: "::1",
    port: 8443,
    basePath: "/shop",
  });
});

test("the screen of make status", () => {
  const facts = parseFacts(
    [
      "== containers",
      JSON.stringify([
        {
          Id: "abcdefabcdef00",
          Name: "/culvert-web-1",
          RestartCount: 0,
          State: { Status: "running", Health: { Status: "healthy" }, StartedAt: "2026-08-01T10:00:00Z" },
          Config: { Env: ["SENTRY_RELEASE=shop@7"], Labels: { "com.docker.compose.service": "web" } },
        },
        {
          Id: "0123456789ab00",
          Name: "/culvert-proxy-1",
          RestartCount: 0,
          State: { Status: "running", Health: { Status: "healthy" }, StartedAt: "2026-08-01T10:00:00Z" },
          // As compose passes a setting that is not set.
          Config: { Env: ["HTTPS_PORT="], Labels: { "com.docker.compose.service": "proxy" } },
        },
      ]),
      "== memory",
      "abcdefabcdef 25.40%",
      "== outcomes",
      "12 accepted ",
      "3 queued unreachable",
      "== last-accepted",
      "2026-08-01T11:59:00+00:00",
    ].join("\n"),
  );
  const proxy = parseMetrics(
    [
      "culvert_certificate_expiry_timestamp_seconds 1788264000",
      'culvert_pages_total{kind="page",outcome="accepted"} 90',
      'culvert_pages_total{kind="page",outcome="shed"} 30',
      'culvert_pages_total{kind="prefetch",outcome="shed"} 500',
    ].join("\n"),
  );
  const spool = parseMetrics(
    'culvert_spool_queued_envelopes{category="error"} 3\nculvert_spool_oldest_envelope_age_seconds 90',
  );
  expect(screen(facts, proxy, spool, Date.parse("2026-08-01T12:00:00Z"))).toEqual([
    "  address      https://localhost:8443/",
    "  release      shop@7",
    "  web          culvert-web-1 healthy for 2 h, 25 % of its memory",
    "  proxy        culvert-proxy-1 healthy for 2 h",
    "  certificate  31 days left, until 2026-09-01",
    "  ingest       last accepted an envelope 2026-08-01T11:59:00+00:00",
    "  pages        30 of 120 shed (25 %) since the proxy started",
    "  envelopes    last five minutes: 12 accepted, 3 queued",
    "  spool        3 envelopes queued, the oldest for 90 s",
  ]);
});
