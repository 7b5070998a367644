import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../deploy/test/support/docker.ts";
import { type Blocklists, loadBlocklists } from "./blocklists.ts";
import { arrived, isFromBrowser, of } from "./envelopes.ts";
import { expect, test, traceOf } from "./fixtures.ts";
import { app } from "./stack.ts";

// One process for all tests: loading the lists takes seconds.
test.describe.configure({ mode: "default" });

let lists: Blocklists;
test.beforeAll(() => {
  const loaded = loadBlocklists();
  test.skip(!loaded, "needs Debian's package of the uBlock Origin that proxy/README.md names");
  lists = loaded as Blocklists;
});

test("an error arrives from a browser with uBlock Origin's lists, which block none of its requests", async ({
  page,
  context,
  allow,
}) => {
  allow.consoleError(/Thrown on purpose/);
  const requested = new Set<string>();
  const blocked: string[] = [];
  const check = (address: string, type: string) => {
    const { pathname, search } = new URL(address, app.origin);
    requested.add(pathname);
    const rule = lists.rule(pathname + search, type);
    if (rule) blocked.push(`${pathname}${search}: ${rule}`);
    return rule;
  };
  await context.route("**/*", (route) =>
    check(route.request().url(), route.request().resourceType()) ? route.abort("blockedbyclient") : route.continue(),
  );
  for (const path of ["/", "/trace", "/test-events"]) {
    const policy = (await page.goto(path))?.headers()["content-security-policy"] ?? "";
    // The browser sends CSP reports outside the route above.
    const reports = /report-uri (\S+?)(?:;|$)/.exec(policy)?.[1];
    check(reports ?? "no address for CSP reports", "csp_report");
    expect(reports).toBe(`${app.tunnel}/csp`);
  }
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await arrived("event", (event) => of(trace)(event) && isFromBrowser(event));
  expect(blocked).toEqual([]);
  expect([...requested]).toEqual(
    expect.arrayContaining([app.tunnel, expect.stringMatching(/^\/_next\/static\/.+\.js$/)]),
  );
});

// As documented in proxy/README.md.
test("the addresses in the README are blocked or not as documented", () => {
  const arguments_ = "?o=1&p=2&r=us";
  expect(lists.rule("/monitoring", "fetch")).toBeUndefined();
  expect(lists.rule("/monitoring/csp", "csp_report")).toBeUndefined();
  expect(lists.rule(`/monitoring${arguments_}`, "fetch")).toBe("/monitoring?o=$xmlhttprequest");
  expect(lists.rule(`/k7f2a9${arguments_}`, "fetch")).toBeUndefined();
  expect(lists.rule("/1iwdson", "fetch")).toBeUndefined();
  expect(lists.rule("/api/2/envelope/?sentry_key=a", "fetch")).toBe("/?sentry_key=");
});

// Common names for such a path, and those in the rules of the lists, each as a path.
const names =
  `monitoring monitor tunnel sentry sentry-tunnel api/sentry api/tunnel api/monitoring envelope errors error api/errors
  error-reporting log logs api/log report reports api/reports csp-report telemetry api/telemetry metrics track tracking analytics collect
  api/collect collector beacon rum rum/events events api/events ingest stats stats/events ping observability apm bugs crash-report insights
  relay glitchtip faro otlp v1/traces traces diagnostics js-error jserror error-log log/event log/sentry feedback replay web-vitals
  analytics/event analytics/events analytics/collect event-log event-tracking events/track track/event tracking/events api/pageview
  shared/sentry k7f2a9 1iwdson`.split(/\s+/);

test("the proxy warns at startup of exactly the paths that the lists block", () => {
  const warns = (dsn: string) => (path: string) => {
    const env = { PATH: process.env.PATH, TUNNEL_PATH: path, SENTRY_DSN: dsn };
    const script = "proxy/entrypoint.d/blocked-paths.sh";
    const { status, stdout, stderr } = spawnSync("sh", [script], { cwd: root, env, encoding: "utf8" });
    expect([status, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(/^(culvert proxy: ad-blockers block \/.*\n)?$/);
    return stderr !== "";
  };
  const blocks = (endings: string[]) => (path: string) =>
    endings.some((ending) => lists.rule(path + ending, ending === "/csp" ? "csp_report" : "fetch"));
  const paths = names.map((name) => `/${name}`);
  const withParameters = ["", "/csp", "?o=1&p=2", "?o=1&p=2&r=us"];
  expect(paths.filter(warns("https://key@o1.ingest.us.sentry.io/2"))).toEqual(paths.filter(blocks(withParameters)));
  // For other hosts the SDK adds no query parameters.
  expect(paths.filter(warns("https://key@sentry.example/2"))).toEqual(paths.filter(blocks(["", "/csp"])));
});

test("each rule that the proxy knows is in the lists", () => {
  const known = readFileSync(join(root, "proxy/entrypoint.d/blocked-paths"), "utf8").trim().split("\n");
  const found = new Set([...lists.rules].map((rule) => rule.replace(/\$.*/, "").replace(/\*$/, "")));
  expect(known.filter((rule) => !found.has(rule))).toEqual([]);
});
