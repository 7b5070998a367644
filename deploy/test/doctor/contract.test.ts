import { expect, test } from "vitest";
import { violations } from "../../doctor/app/csp.ts";
import { type AppFacts, parseAppFacts } from "../../doctor/app/facts.ts";
import { contract } from "../../doctor/check-app.ts";

const key = "0123456789abcdef0123456789abcdef";
const saas = `https://${key}@o1.ingest.sentry.io/2`;
const script = '<script src="/_next/static/a.js" nonce="n"></script>';
const app: AppFacts = {
  settings: { SENTRY_DSN: saas, TUNNEL_PATH: "/k7f2a9" },
  user: "1000:1000",
  workingDirectory: "/app",
  state: "running healthy",
  answered: "GET /healthz: status 404",
  reason: "✓ Ready in 90ms",
  requests: {
    loopback: 200,
    address: 200,
    path: "/",
    headers: {},
    html: script,
    file: "/_next/static/a.js",
    fileStatus: 200,
    nonce: "n",
  },
  build: { basePath: "", output: "standalone", deploymentId: "1", env: { _sentryRewritesTunnelPath: "/k7f2a9" } },
  nextVersion: "16.0.1",
  hasServer: true,
  hasMiddleware: true,
  actions: { count: 2, key: "k" },
  actionsKey: "k",
  dsns: [saas],
  mentions: { tunnelPath: false, tunnelTrue: false, webSocket: false, serverSdk: true, serverTunnel: true },
  memory: 0.2,
  log: [],
  stop: { seconds: 1, exitCode: 143 },
};
const build = app.build as NonNullable<AppFacts["build"]>;
const requests = app.requests;

test("an app that keeps the contract has nothing but ticks", () => {
  expect(contract(app).filter(({ state }) => state !== "ok")).toEqual([]);
});

test.each<[string, Partial<AppFacts>, string, RegExp]>([
  ["does not get healthy", { state: "exited ", reason: "Error: DATABASE_URL" }, "health", /DATABASE_URL/],
  [
    "has no node",
    { state: "running unhealthy", reason: 'exec: "node": executable file not found' },
    "health",
    /healthcheck of its own/,
  ],
  ["listens on 127.0.0.1 alone", { requests: { ...requests, address: 0 } }, "port", /HOSTNAME=0\.0\.0\.0/],
  ["listens elsewhere", { requests: { ...requests, address: 0, loopback: 0 } }, "port", /PORT=3000/],
  ["answers pages with an error", { requests: { ...requests, address: 500 } }, "port", /answers 500/],
  ["runs as root", { user: "" }, "user", /USER 1000:1000/],
  ["runs as uid 0", { user: "0:0" }, "user", /USER 1000:1000/],
  [
    "writes between Next's files",
    { log: ["EROFS: read-only file system, open '/app/.next/server/app/x.html'"] },
    "files",
    /isrFlushToDisk/,
  ],
  [
    "writes elsewhere",
    { log: ["Error: EACCES: permission denied, mkdir '/data'"] },
    "files",
    /the app writes \/data: write to \/tmp/,
  ],
  ["fills a folder", { log: ["ENOSPC: no space left on device, write"] }, "files", /larger size/],
  ["takes much memory", { memory: 0.8 }, "memory", /mem_limit/],
  ["ignores SIGTERM", { stop: { seconds: 10, exitCode: 137 } }, "stop", /CMD \["node", "server\.js"\]/],
  ["is not standalone", { build: { ...build, output: "" } }, "build", /output: "standalone"/],
  ["lacks its server", { hasServer: false }, "build", /no \/app\/server\.js/],
  ["lacks its static files", { requests: { ...requests, fileStatus: 404 } }, "static files", /COPY \.next\/static/],
  ["has another base path", { build: { ...build, basePath: "/shop" } }, "base path", /BASE_PATH=\/shop/],
  [
    "has another tunnelRoute",
    { build: { ...build, env: { _sentryRewritesTunnelPath: "/k7" } } },
    "browser events",
    /TUNNEL_PATH=\/k7/,
  ],
  ["has another DSN", { settings: { TUNNEL_PATH: "/k7f2a9" } }, "dsn", /TUNNEL_ALLOWED_DSNS/],
  [
    "has another DSN and tunnel: true",
    { settings: {}, build: { ...build, env: {} }, mentions: { ...app.mentions, tunnelTrue: true } },
    "dsn",
    /TUNNEL_ALLOWED_DSNS/,
  ],
  [
    "has a tunnelRoute for a self-hosted DSN",
    { dsns: [`https://${key}@sentry.example/2`] },
    "dsn",
    /tunnel instead of tunnelRoute/,
  ],
  [
    "asks for the strict headers in vain",
    { requests: { ...requests, headers: { "x-security-headers": "strict" }, html: '<p style="color:red">' } },
    "security headers",
    /1 × style attribute/,
  ],
])("an app that %s", (_, fault, check, words) => {
  const wrong = contract({ ...app, ...fault }).filter(({ state }) => state === "failed");
  expect(wrong.map((result) => result.check)).toEqual([check]);
  expect(`${wrong[0]?.found}: ${wrong[0]?.fix}`).toMatch(words);
});

const policy = (value: string) => ({ requests: { ...requests, headers: { "content-security-policy": value } } });

test.each<[string, Partial<AppFacts>, string, RegExp]>([
  ["Next 14", { nextVersion: "14.2.0" }, "next", /tested are 15 and 16/],
  [
    "a build that is elsewhere",
    { build: undefined, dsns: [], mentions: { ...app.mentions, tunnelPath: true } },
    "build",
    /output: "standalone"/,
  ],
  ["no deploymentId", { build: { ...build, deploymentId: "" } }, "deploymentId", /another for each build/],
  ["a key of the build's own", { actionsKey: "" }, "server actions", /NEXT_SERVER_ACTIONS_ENCRYPTION_KEY/],
  ["events past the proxy", { mentions: { ...app.mentions, serverTunnel: false } }, "server events", /SERVER_TUNNEL/],
  [
    "a tunnelRoute that ad blockers block",
    { settings: { SENTRY_DSN: saas }, build: { ...build, env: { _sentryRewritesTunnelPath: "/monitoring" } } },
    "browser events",
    /tunnelRoute: "\/k7f2a9" in next\.config, and TUNNEL_PATH=\/k7f2a9/,
  ],
  ["a WebSocket", { mentions: { ...app.mentions, webSocket: true } }, "websocket", /WEBSOCKET_PATH=\/its\/path/],
  [
    "middleware, whose bodies Next cuts",
    { build: { ...build, experimental: { proxyClientMaxBodySize: 10_485_760 } } },
    "bodies",
    /above 10 MB .*experimental: \{ proxyClientMaxBodySize: "100mb" \}/,
  ],
  [
    "middleware of Next 15",
    { build: { ...build, experimental: { middlewareClientMaxBodySize: "20mb" } } },
    "bodies",
    /above 20 MB .*experimental: \{ middlewareClientMaxBodySize: "100mb" \}/,
  ],
  [
    "a policy that blocks the tunnel",
    policy("connect-src https://api.example"),
    "security headers",
    /connect-src 'self'/,
  ],
  ["one that does by default-src", policy("default-src 'none'; img-src *"), "security headers", /default-src 'none'/],
  ["one of two that does", policy("connect-src 'self', default-src 'none'"), "security headers", /default-src 'none'/],
  [
    "one in the page",
    { requests: { ...requests, html: `<meta http-equiv="Content-Security-Policy" content="connect-src 'none'">` } },
    "security headers",
    /connect-src 'none'/,
  ],
])("%s is no fault for sure", (_, facts, check, words) => {
  const open = contract({ ...app, ...facts }).filter(({ state }) => state !== "ok");
  expect(open.map((result) => [result.check, result.state])).toEqual([[check, "unknown"]]);
  expect(`${open[0]?.found}: ${open[0]?.fix}`).toMatch(words);
});

test.each<[string, Partial<AppFacts>, string]>([
  ["tunnel: true", { build: { ...build, env: {} }, mentions: { ...app.mentions, tunnelTrue: true } }, "browser events"],
  [
    "middleware that passes what the proxy accepts",
    { build: { ...build, experimental: { proxyClientMaxBodySize: "100mb" } } },
    "bodies",
  ],
  [
    "a smaller limit without middleware",
    { hasMiddleware: false, build: { ...build, experimental: { proxyClientMaxBodySize: 10_485_760 } } },
    "build",
  ],
  [
    "a WebSocket with its path",
    { settings: { ...app.settings, WEBSOCKET_PATH: "/ws" }, mentions: { ...app.mentions, webSocket: true } },
    "websocket",
  ],
  ["a policy that allows its own site", policy("default-src 'none'; connect-src 'self'"), "security headers"],
  ["a policy that names it", { ...policy("connect-src https://localhost:*") }, "security headers"],
])("%s is right", (_, facts, check) => {
  const results = contract({ ...app, ...facts });
  expect(results.filter(({ state }) => state !== "ok")).toEqual([]);
  expect(results.map((result) => result.check)).toContain(check);
});

test.each([
  ["GET /healthz: status 200", /^GET \/healthz: status 200$/],
  ["GET /healthz: status 404", /^GET \/healthz: status 404: .*HEALTH_PATH/],
  ["GET /healthz: status 307", /^GET \/healthz: status 307, a redirect/],
])("the health check says what answered: %s", (answered, words) => {
  expect(contract({ ...app, answered })[0]?.found).toMatch(words);
});

test("only what browsers call is a server action", () => {
  const node = { "602d2603c375f4f4e6b45cfbce5017db390c05f478": {}, "808084f879a8818ba5b1ef3c8a202476d297ab9a93": {} };
  const facts = parseAppFacts(`== actions\n${JSON.stringify({ node, edge: {}, encryptionKey: "k" })}\n`);
  expect(facts.actions).toEqual({ count: 1, key: "k" });
});

test("what a strict policy blocks of a page", () => {
  expect(violations(`${script}<script type="application/ld+json">{}</script><style nonce="n"></style>`, "n")).toEqual(
    [],
  );
  expect(
    violations(
      '<script>1</script><style></style><a onclick="x()" style="x"><link rel="stylesheet" href="https://fonts.example/a">',
      "n",
    ),
  ).toEqual([
    "1 × script without the nonce",
    "1 × style element without the nonce",
    "1 × style attribute",
    "1 × event handler in the markup",
    "1 × style sheet of another site",
  ]);
});
