import { expect, test } from "vitest";
import { violations } from "../../doctor/app/csp.ts";
import type { AppFacts } from "../../doctor/app/facts.ts";
import { contract } from "../../doctor/check-app.ts";

const key = "0123456789abcdef0123456789abcdef";
const saas = `https://${key}@o1.ingest.sentry.io/2`;
const script = '<script src="/_next/static/a.js" nonce="n"></script>';
const app: AppFacts = {
  settings: { SENTRY_DSN: saas },
  user: "1000:1000",
  workingDirectory: "/app",
  state: "running healthy",
  reason: "GET /healthz: status 404",
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
  build: { basePath: "", output: "standalone", deploymentId: "1", env: { _sentryRewritesTunnelPath: "/monitoring" } },
  nextVersion: "16.0.1",
  hasServer: true,
  actions: { count: 2, key: "k" },
  actionsKey: "k",
  dsns: [saas],
  mentions: { tunnelPath: false, serverSdk: true, serverTunnel: true },
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
  ["has no deploymentId", { build: { ...build, deploymentId: "" } }, "deploymentId", /another for each build/],
  [
    "has another tunnelRoute",
    { build: { ...build, env: { _sentryRewritesTunnelPath: "/k7" } } },
    "browser events",
    /TUNNEL_PATH=\/k7/,
  ],
  ["has another DSN", { settings: {} }, "dsn", /TUNNEL_ALLOWED_DSNS/],
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

test.each<[string, Partial<AppFacts>, string]>([
  ["Next 14", { nextVersion: "14.2.0" }, "next"],
  ["a build that is elsewhere", { build: undefined, dsns: [] }, "build"],
  ["a key of the build's own", { actionsKey: "" }, "server actions"],
  ["events past the proxy", { mentions: { ...app.mentions, serverTunnel: false } }, "server events"],
])("%s is no fault for sure", (_, facts, check) => {
  const states = Object.fromEntries(contract({ ...app, ...facts }).map((result) => [result.check, result.state]));
  expect(states[check]).toBe("unknown");
  expect(Object.values(states)).not.toContain("failed");
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
