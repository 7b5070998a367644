import { expect, test } from "vitest";
import { type AppFacts, contract } from "../../checks/host/check-app.ts";
import { forbidsTunnel } from "../../checks/outside/site.ts";

const key = "0123456789abcdef0123456789abcdef";
const saas = `https://${key}@o1.ingest.sentry.io/2`;
const ownDsn = `https://${key}@sentry.example/2`;
const app: AppFacts = {
  settings: { SENTRY_DSN: saas, TUNNEL_PATH: "/k7f2a9" },
  user: "1000:1000",
  isRunning: true,
  isHealthy: true,
  problem: "",
  health: "GET /healthz: status 404",
  requests: {
    path: "/",
    status: 200,
    policy: "",
    html: "",
    unreachable: "",
    file: "/_next/static/a.js",
    fileStatus: 200,
  },
  build: { basePath: "", output: "standalone", deploymentId: "1", env: { _sentryRewritesTunnelPath: "/k7f2a9" } },
  nextVersion: "16.0.1",
  mentions: ["server.js", "SERVER_TUNNEL"],
  hasMiddleware: true,
  dsns: [saas],
  log: [],
  stopExitCode: 143,
};
const build = app.build as NonNullable<AppFacts["build"]>;
const mentions = (...more: string[]) => ({ mentions: [...app.mentions, ...more] });
const requests = (change: Partial<AppFacts["requests"]>) => ({ requests: { ...app.requests, ...change } });
const builds = (change: Partial<typeof build>) => ({ build: { ...build, ...change } });
const tunnelPath = (TUNNEL_PATH: string, more = {}) => ({ settings: { TUNNEL_PATH, ...more } });
const unreachable = "link: <https://0.0.0.0:3000/de>";
const elsewhere = { build: undefined, dsns: [] };

// With another base path, a limit of bodies, server actions, or code that uses its own address: check-app.test.ts.
test.each<[outcome: string, says: RegExp, fault: Partial<AppFacts>]>([
  ["failed page", /does not answer/, requests({ status: 0 })],
  ["warning page", /\/ answers 404: BASE_PATH/, requests({ status: 404 })],
  ["failed files", /isrFlushToDisk/, { log: ["EROFS: open '/app/.next/server/app/x.html'"] }],
  ["failed files", /size to tmpfs/, { log: ["ENOSPC: no space left on device, write"] }],
  ["failed build", /no \/app\/server\.js/, { mentions: ["SERVER_TUNNEL"] }],
  ["failed static files", /COPY \.next\/static/, requests({ fileStatus: 404 })],
  ["failed browser events", /TUNNEL_PATH=\/k7f/, tunnelPath("/k7", { SENTRY_DSN: saas })],
  ["failed dsn", /TUNNEL_ALLOWED_DSNS/, tunnelPath("/k7f2a9")],
  ["failed dsn", /instead of tunnelRoute/, { dsns: [ownDsn] }],
  ["warning next", /tested are 15 and 16/, { nextVersion: "14.2.0" }],
  ["warning build", /standalone"/, { ...elsewhere, ...mentions("tunnel path") }],
  ["warning server events", /SERVER_TUNNEL/, { mentions: ["server.js"] }],
  ["warning browser events", /no sign of the tunnel/, builds({ env: {} })],
  ["warning addresses", /0:3000.*x-forwarded-host/, requests({ unreachable })],
])("%s: %s", (outcome, says, fault) => {
  const wrong = contract({ ...app, ...fault }).filter(({ state }) => state !== "ok");
  expect(wrong.map(({ state, check }) => `${state} ${check}`)).toEqual([outcome]);
  expect(`${wrong[0]?.found}: ${wrong[0]?.fix}`).toMatch(says);
});

const withTunnel = { ...builds({ env: {} }), ...mentions("tunnel: true") };
const uploads = builds({ experimental: { serverActions: { bodySizeLimit: "20mb" } } });
const smaller = builds({ experimental: { proxyClientMaxBodySize: 10_485_760 } });
test.each<[string, Partial<AppFacts>]>([
  ["tunnel: true with a Sentry of one's own", { ...withTunnel, dsns: [ownDsn], settings: { SENTRY_DSN: ownDsn } }],
  ["a limit of its own for server actions", { ...mentions("server actions"), ...uploads }],
  ["a smaller limit without middleware", { hasMiddleware: false, ...smaller }],
])("%s is right", (_, facts) => {
  expect(contract({ ...app, ...facts }).filter(({ state }) => state !== "ok")).toEqual([]);
});

const tunnel = { name: "example.com", publicPort: 443, tunnelPath: "/monitoring" };
// Takes long if each tag is read to the page's end.
test("a page of nothing but tags that do not end has no policy", { timeout: 3_000 }, () => {
  const html = `${"<meta".repeat(20_000)} ${'<meta http-equiv="Content-Security-Policy"'.repeat(2_000)}`;
  expect(forbidsTunnel("", html, tunnel)).toBe(undefined);
});

type Policy = [header: string, html: string, directive: string | undefined];
const allowed = (source: string): Policy => [`connect-src ${source}`, "", undefined];
const forbids = (source: string): Policy => [`connect-src ${source}`, "", `connect-src ${source}`];
test.each<Policy>([
  ["", `<meta content="connect-src 'none'" http-equiv="Content-Security-Policy">`, "connect-src 'none'"],
  ["default-src 'none'; img-src *", "", "default-src 'none'"],
  ["", `<meta http-equiv="Content-Security-Policy" content="connect-src &#x27;none&#x27;">`, "connect-src 'none'"],
  ["default-src 'none'; connect-src 'self'", "", undefined],
  ...["*", "HTTPS:", "EXAMPLE.com:443", "http://example.com/", "*.com:*"].map(allowed),
  allowed("https://api.example.com https://*:443"),
  ...["https://*.example.com", "https://example.com.evil", "wss://example.com"].map(forbids),
  ...["https://example.com:8443", "https://example.com/api/", "example.com/monitor", "xexample.com"].map(forbids),
])("the policy %s %s forbids the tunnel by %s", (header, html, directive) => {
  expect(forbidsTunnel(header, html, tunnel)).toBe(directive);
});
