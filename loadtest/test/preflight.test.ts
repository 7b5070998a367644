import { afterEach, describe, expect, it } from "vitest";
import { readOptions } from "../lib/options.ts";
import { detect, settingsFile, targetProblem } from "../suite/preflight.ts";
import { runShim } from "./run-suite.ts";
import { type Fault, startStub } from "./stub.ts";

let stub: Awaited<ReturnType<typeof startStub>> | undefined;
afterEach(() => stub?.stop());

const META = `<meta name="sentry-trace" content="${"a".repeat(32)}-${"b".repeat(16)}-1"/>`;
const NEXT = '<script>self.__next_f.push([1,""])</script></body>';
const HTML = { "content-type": "text/html" };
/** An app without any page of the example: everything but `/` is a 404. */
const only = (body: string): Required<Pick<Fault, "response">> => ({
  response: (answer, { path }) => {
    const missing = { status: 404, headers: { ...HTML }, body: '<meta name="robots" content="noindex"/>' };
    Object.assign(answer, path === "/" ? { status: 200, headers: { ...HTML }, body } : missing);
  },
});

async function found(fault: Fault, env: Record<string, string> = {}) {
  stub = await startStub(fault);
  return { url: stub.url, ...(await detect({ BASE_URL: stub.url, ...env })) };
}

describe("the preflight", () => {
  it("finds the example's pages and its tunnel", async () => {
    const { settings } = await found({ response: (answer) => (answer.body = answer.body.replace("</body>", NEXT)) });
    expect(settings).toEqual({
      ...{ PAGES: "/", TRACE: "on", ROUTER: "app", NOINDEX: "header" },
      ...{ TRACE_PAGE: "/trace", ECHO_PATH: "/api/echo" },
      ...{ ACTION_PAGE: "/test-events", REDIRECT_PAGE: "/test-events/redirect" },
      ...{ TUNNEL_PATH: "/monitoring", SENTRY_DSN: "http://culvert@ingest:8969/1" },
    });
  });

  const none = { TRACE_PAGE: "off", ECHO_PATH: "off", ACTION_PAGE: "off", REDIRECT_PAGE: "off", TUNNEL_PATH: "off" };
  it.each([
    ["an App Router without Sentry", `<html><body>${NEXT}</html>`, { TRACE: "off", ROUTER: "app" }],
    [
      "a Pages Router with Sentry",
      `<html>${META}<script id="__NEXT_DATA__"/></html>`,
      { TRACE: "on", ROUTER: "pages" },
    ],
  ])("finds what %s lacks", async (_, body, expected) => {
    const { settings, problem } = await found(only(body));
    expect(problem).toBeUndefined();
    expect(settings).toEqual({ PAGES: "/", NOINDEX: "meta", ...none, ...expected });
  });

  it("keeps what is set, and takes tunnel and DSN from an app with Culvert's package", async () => {
    const { response } = only(`<html>${META}${NEXT}</html>`);
    const fault: Fault = {
      response: (answer, seen) => {
        response(answer, seen);
        if (seen.path.startsWith("/t?")) answer.status = 403;
        answer.headers["server-timing"] =
          'db;dur=1, culvert;desc="dsn=https%3A%2F%2Fk%40o1.ingest.sentry.io%2F7&tunnel=%2Ft"';
      },
    };
    const { settings } = await found(fault, { ROUTER: "pages" });
    // Behind the proxy the header must be there, whatever the app's own markup says.
    const expected = { TUNNEL_PATH: "/t", SENTRY_DSN: "https://k@o1.ingest.sentry.io/7", NOINDEX: "header" };
    expect(settings).toMatchObject(expected);
    expect(settings).not.toHaveProperty("ROUTER");
  });

  it("follows the redirect of a page, and is not misled by an app that redirects every path", async () => {
    const { response } = only(`<html>${NEXT}</html>`);
    const fault: Fault = {
      response: (answer, seen) => {
        if (seen.path.startsWith("/en")) return response(answer, { ...seen, path: seen.path.replace(/^\/en/, "") });
        Object.assign(answer, { status: 307, headers: { location: `/en${seen.path}` }, body: "" });
      },
    };
    const { url, settings } = await found(fault);
    expect(settings).toMatchObject({ ...none, PAGES: "/en/" });
    const { summary } = await runShim("smoke", { BASE_URL: url, ONLY: "notFound", ...settings });
    expect(summary).toMatchObject({ result: "passed" });
  });

  it.each([
    [{ PAGES: "/nowhere" }, /\/nowhere responds 404.*set PAGES/],
    [{ RATE: "fast" }, /^RATE /],
    // k6 cannot open files here: the run does.
    [{ LIMITS: "limits.json", BASELINE: "summary.json" }, /^undefined$/],
  ] as [Record<string, string>, RegExp][])("says in one line what stops a run: %j", async (env, words) => {
    expect(`${(await found({}, env)).problem}`).toMatch(words);
  });

  it("prints settings that can be pasted, and writes a file for run.sh", () => {
    const settings = { PAGES: "/a b,/", TRACE: "on" };
    const env = { PROFILE: "average", BASE_URL: "https://a.example" };
    expect(settingsFile({ settings, remarks: ["a remark"] }, env)).toEqual({
      readable: "  settings: PROFILE=average BASE_URL=https://a.example PAGES='/a b,/' TRACE=on\n  a remark\n",
      file: "PAGES=/a b,/\nTRACE=on\n",
    });
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
  [{ status: 404 }, "set PAGES to pages that exist"],
  [{ status: 200 }, "set TRACE=off for an app without Sentry's tracing"],
])("a target without a page is rejected with a clear message: %j", (given, words) => {
  const answer = { headers: {}, body: "", milliseconds: 1, error: "", at: "GET /", traceId: "", ...given };
  const problem = targetProblem(readOptions({}), "/", answer);
  expect(problem).toMatch(/^BASE_URL https:\/\/localhost:8443: [^\n]+$/);
  expect(problem).toContain(words);
});
