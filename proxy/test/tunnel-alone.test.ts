import { getTunnelPath } from "@sentry/core";
import { expect, test } from "vitest";
import { render } from "./proxy.ts";
import { envelope, useProxy } from "./use-proxy.ts";
import { type Client, type Request, send } from "./wire.ts";

// A name that does not exist, so that the proxy would not be ready if it waited for an app.
const shared = useProxy({ WEB: "off", WEB_UPSTREAM: "none:3000", WEB_SETS: "web:9000" }, { spool: true });
const line = "this address accepts Sentry envelopes at /monitoring, and serves no app (WEB=off)\n";

test.each<[string, Partial<Request>]>([
  ["GET /", {}],
  ["a file of an app", { path: "/_next/static/chunks/main.js" }],
  ["an app's settings", { path: "/.culvert/settings" }],
  ["a large body", { method: "POST", path: "/api", body: Buffer.alloc(3_000_000) }],
  ["an upgrade", { path: "/socket", headers: { connection: "upgrade", upgrade: "websocket" } }],
])("with WEB=off, 404 with one line: %s", async (_, request) => {
  const { answer, received } = await shared.through({ path: "/", ...request });
  const headers = { "content-type": "text/plain", "x-robots-tag": "noindex", "x-content-type-options": "nosniff" };
  expect(answer).toMatchObject({ status: 404, body: line, headers });
  expect(received).toEqual([]);
});

test("with WEB=off, nothing that serves an app is rendered", async () => {
  const rendered = async (WEB: string) => {
    const config = await render({ WEB, SPOOL_UPSTREAM: "spool:8082" });
    return config.replace(/^\s*#(?! configuration file).*$/gm, "");
  };
  const ofApp = new RegExp(
    [
      "web-on",
      "app-limits",
      "pages.conf",
      "hashed-file",
      "/_next",
      "settings {",
      "websocket_",
      "health.js",
      "compression",
      "gzip",
      "upstream web",
      "//[$]?web",
      "[$]web",
      "[$]csp",
      "[$]hsts",
      "proxy_cache",
      "ssi ",
      "sentry-trace",
      "deployment",
      "[.]current",
      "client_rate",
      "open_requests",
      "error-pages",
      "X-Forwarded-Host",
    ].join("|"),
    "gi",
  );
  const [on, off] = await Promise.all([rendered("on"), rendered("off")]);
  expect(new Set(on.match(ofApp)).size).toBeGreaterThan(20);
  expect(off.match(ofApp)).toBeNull();
});

test("the tunnel, the SDK's own path, CSP reports and the server's events reach the ingest", async () => {
  const urls = async (request: Partial<Request>, by: Client = send) =>
    (await shared.post(request, by)).received.map(({ url }) => url);
  const report = { path: "/monitoring/csp", headers: { "content-type": "application/csp-report" }, body: "{}" };
  expect(await urls({})).toEqual(["/prefix/api/7/envelope/"]);
  expect(await urls({ body: envelope + " ".repeat(100_000) })).toEqual(["/prefix/api/7/envelope/"]);
  expect(await urls({ path: getTunnelPath("http://key@ingest:9000/prefix/7") ?? "" })).toEqual([
    "/prefix/api/7/envelope/",
  ]);
  expect(await urls(report)).toEqual(["/prefix/api/7/security/?sentry_key=key"]);
  expect(await urls({ path: "/envelopes" }, shared.inside)).toEqual(["/prefix/api/7/envelope/"]);
  expect((await shared.through({ path: "/.culvert/health" })).answer.body).toBe("ok\n");
});

test("its metrics have nothing of an app", async () => {
  await shared.through({ path: "/" });
  const metrics = await shared.proxy.internal("/metrics");
  expect(metrics).toMatch(/^culvert_requests_total\{route="proxy",class="4xx"\} [1-9]/m);
  expect(metrics).not.toMatch(/page|deployment/);
});
