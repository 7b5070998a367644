import { afterEach, describe, expect, it } from "vitest";
import { readOptions } from "../lib/options.ts";
import { detect, settingsFiles } from "../suite/preflight.ts";
import { targetProblem } from "../suite/target.ts";
import { runShim } from "./run-suite.ts";
import { type Answer, asExample, type Fault, ownSettings, type Seen, startStub } from "./stub.ts";

let stub: Awaited<ReturnType<typeof startStub>> | undefined;
afterEach(() => stub?.stop());

const META = `<meta name="sentry-trace" content="${"a".repeat(32)}-${"b".repeat(16)}-1"/>`;
const NEXT = '<script>self.__next_f.push([1,""])</script></body>';
const HTML = { "content-type": "text/html" };

/** An app without any page of the example: everything but `/` is a 404. */
const only = (body: string, more: (answer: Answer, seen: Seen) => unknown = () => {}): Fault => ({
  response: (answer, seen) => {
    const missing = { status: 404, headers: { ...HTML }, body: '<meta name="robots" content="noindex"/>' };
    Object.assign(answer, seen.path === "/" ? { status: 200, headers: { ...HTML }, body } : missing);
    more(answer, seen);
  },
});

async function found(fault: Fault, env: Record<string, string> = {}) {
  stub = await startStub(fault);
  return { url: stub.url, ...(await detect({ BASE_URL: stub.url, ...env })) };
}

describe("the preflight", () => {
  it.each([
    ["", asExample],
    [
      "with broken pages and tunnel",
      (answer, seen) =>
        seen.path === "/" ? asExample(answer, seen) : Object.assign(answer, { status: 500, body: "" }),
    ],
    [
      "without traces",
      (answer, seen) => {
        asExample(answer, seen);
        answer.body = answer.body.replace(/<meta name="(sentry-trace|baggage)"[^>]*>/g, "");
      },
    ],
  ] as [string, NonNullable<Fault["response"]>][])("knows what the example has, also %s", async (_, response) => {
    const { settings, problem } = await found({ response });
    expect(problem).toBeUndefined();
    expect(settings).toEqual({
      ...{ PAGES: "/", TRACE: "on", ROUTER: "app", NOINDEX: "header" },
      EXPECT_TEXT: "/=This deployment is up,/trace=The trace of this page view,/test-events=Test events",
      EXPECT_HEADERS: "content-security-policy,x-content-type-options,referrer-policy,permissions-policy",
      ...{ TRACE_PAGE: "/trace", ECHO_PATH: "/api/echo" },
      ...{ ACTION_PAGE: "/test-events", REDIRECT_PAGE: "/test-events/redirect", REDIRECT_STATUS: "307" },
      ...{ TUNNEL_PATH: "/monitoring", SENTRY_DSN: "http://culvert@ingest:8969/1" },
    });
  });

  const none = { TRACE_PAGE: "off", ECHO_PATH: "off", ACTION_PAGE: "off", REDIRECT_PAGE: "off", TUNNEL_PATH: "off" };
  const SENTRY_DSN = "http://culvert@ingest:8969/1";
  it.each([
    [
      "an App Router without Sentry",
      `<html><body><h1>The shop, today</h1>${NEXT}</html>`,
      {
        TRACE: "off",
        ROUTER: "app",
        EXPECT_TEXT: "/=The shop",
        NOT_DECLARED: /^TRACE,EXPECT_HEADERS,TRACE_PAGE,.*,TUNNEL_PATH$/,
      },
    ],
    [
      "a Pages Router with Sentry",
      `<html>${META}<script id="__NEXT_DATA__"/></html>`,
      { TRACE: "on", ROUTER: "pages", EXPECT_TEXT: "off", NOT_DECLARED: /^EXPECT_TEXT,EXPECT_HEADERS,TRACE_PAGE/ },
    ],
  ])("says what it did not see of %s", async (_, body, { NOT_DECLARED, ...expected }) => {
    const { settings, problem } = await found(only(body));
    expect(problem).toBeUndefined();
    expect(settings.NOT_DECLARED).toMatch(NOT_DECLARED);
    const all = { PAGES: "/", NOINDEX: "meta", EXPECT_HEADERS: "off", SENTRY_DSN, ...none, ...expected };
    expect({ ...settings, NOT_DECLARED: "" }).toEqual({ ...all, NOT_DECLARED: "" });
  });

  it.each([
    ["a tunnel that rejects", 403, "/monitoring"],
    ["an open relay", 200, "/monitoring"],
    ["a broken tunnel", 502, "/monitoring"],
    ["none", 404, "off"],
  ])("takes %s for what it is", async (_, status, TUNNEL_PATH) => {
    const fault = only(
      `<html>${NEXT}`,
      (answer, { method }) => method === "POST" && Object.assign(answer, { status, headers: {} }),
    );
    const { settings } = await found(fault);
    expect(settings).toMatchObject({ TUNNEL_PATH, NOINDEX: "meta" });
  });

  it("keeps what is set, and takes tunnel and DSN from an app with Culvert's package", async () => {
    const dsn = "https://k@o1.ingest.sentry.io/7";
    const fault = only(`<html>${META}${NEXT}</html>`, ({ headers }) =>
      Object.assign(headers, { "server-timing": `db;dur=1, ${ownSettings(dsn, "/t")}` }),
    );
    const { settings } = await found(fault, { ROUTER: "pages" });
    expect(settings).toMatchObject({ TUNNEL_PATH: "/t", SENTRY_DSN: dsn, NOINDEX: "meta" });
    expect(settings).not.toHaveProperty("ROUTER");
  });

  it("proposes a foreign app's action, and does not run it", async () => {
    const { settings, action } = await found(only(`<html><form><input name="$ACTION_REF_1"></form>${NEXT}`));
    expect([settings.ACTION_PAGE, action]).toEqual(["off", "/"]);
  });

  it("guesses nothing if a TARGET file declares", async () => {
    const { settings } = await found(
      {},
      { TARGET: "shop.env", TRACE: "on", TUNNEL_PATH: "/monitoring", ACTION_PAGE: "off" },
    );
    const others = "ROUTER,NOINDEX,EXPECT_TEXT,EXPECT_HEADERS,TRACE_PAGE,ECHO_PATH,REDIRECT_PAGE";
    expect(settings).toMatchObject({ NOT_DECLARED: others, TRACE_PAGE: "off", ROUTER: "pages" });
  });

  it("follows the redirect of a page, and is not misled by an app that redirects every path", async () => {
    const { response } = only(`<html>${NEXT}</html>`);
    const fault: Fault = {
      response: (answer, seen) => {
        if (seen.path.startsWith("/en")) return response?.(answer, { ...seen, path: seen.path.replace(/^\/en/, "") });
        Object.assign(answer, { status: 307, headers: { location: `/en${seen.path}` }, body: "" });
      },
    };
    const { url, settings } = await found(fault);
    expect(settings).toMatchObject({ ...none, PAGES: "/en/" });
    const { summary } = await runShim("smoke", { BASE_URL: url, ONLY: "notFound", ...settings } as Record<
      string,
      string
    >);
    expect(summary).toMatchObject({ result: "passed" });
  });

  it.each([
    [{ PAGES: "/nowhere" }, /PAGES \/nowhere responds 404.*: name pages that exist/],
    [{ ACTION_PAGE: "/nowhere" }, /ACTION_PAGE \/nowhere responds 404.*: name one that exists, or declare it off/],
    [{ TARGET: "a.env", ECHO_PATH: "/nowhere" }, /ECHO_PATH \/nowhere responds 404/],
    [{ RATE: "fast" }, /^RATE /],
    // k6 cannot open files here: the run does.
    [{ LIMITS: "limits.json", BASELINE: "summary.json" }, /^undefined$/],
  ] as [Record<string, string>, RegExp][])("says in one line what stops a run: %j", async (env, words) => {
    expect(`${(await found({}, env)).problem}`).toMatch(words);
  });

  it("prints settings that can be pasted, and writes a file for run.sh and one to commit", () => {
    const settings = { PAGES: "/a b,/", TRACE: "on", ACTION_PAGE: "off", NOT_DECLARED: "ACTION_PAGE" };
    const files = settingsFiles({ settings, action: "/a" }, { PROFILE: "average", BASE_URL: "https://a.example" });
    expect(files.readable).toBe(
      "  settings: PROFILE=average BASE_URL=https://a.example PAGES='/a b,/' TRACE=on\n  neither declared nor seen: ACTION_PAGE\n",
    );
    expect(files.settings).toBe("PAGES=/a b,/\nTRACE=on\nACTION_PAGE=off\nNOT_DECLARED=ACTION_PAGE\n");
    expect(files.target).toMatch(/^# .*\nPAGES=\/a b,\/\nTRACE=on\n# Neither .*\n# actions\n#ACTION_PAGE=\/a\n$/);
  });
});

it.each([
  [{ status: 0, error: "lookup no.such.host: no such host" }, "host not found"],
  [
    { status: 0, error: "tls: failed to verify certificate: x509: unknown" },
    "not trusted: set SSL_CERT_FILE to its CA",
  ],
  [{ status: 0, error: "dial tcp 127.0.0.1:1: connect: connection refused" }, "connection refused: is the stack up"],
  [{ status: 0, error: "request timeout" }, "no response (request timeout)"],
  [{ status: 404 }, "name pages that exist"],
  [{ status: 401 }, "name pages that exist"],
])("a target without a page is rejected with a clear message: %j", (given, words) => {
  const answer = {
    headers: {},
    body: "",
    milliseconds: 1,
    error: "",
    undecodable: false,
    at: "GET /",
    traceId: "",
    ...given,
  };
  const problem = targetProblem(readOptions({}), "PAGES", "/", answer);
  expect(problem).toMatch(/^BASE_URL https:\/\/localhost:8443: [^\n]+$/);
  expect(problem).toContain(words);
});
