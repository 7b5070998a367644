import { afterEach, describe, expect, it } from "vitest";
import { readOptions } from "../lib/options.ts";
import { detect, settingsFile, targetProblem } from "../suite/preflight.ts";
import { runShim } from "./run-suite.ts";
import { type Fault, startStub } from "./stub.ts";

let stub: Awaited<ReturnType<typeof startStub>>;
afterEach(() => stub?.stop());

const NEXT = '<script>self.__next_f.push([1,""])</script></body>';
/** An app without any page of the example: everything but `/` is a 404. */
const only = (body: string, notFound: Record<string, string> = {}): Fault => ({
  response: (answer, { path }) => {
    const html = { "content-type": "text/html" };
    if (path === "/") Object.assign(answer, { status: 200, headers: html, body });
    else
      Object.assign(answer, {
        status: 404,
        headers: { ...html, ...notFound },
        body: '<meta name="robots" content="noindex"/>',
      });
  },
});
const META = `<meta name="sentry-trace" content="${"a".repeat(32)}-${"b".repeat(16)}-1"/>`;

async function found(fault: Fault, env: Record<string, string> = {}) {
  stub = await startStub(fault);
  return detect({ BASE_URL: stub.url, ...env });
}

describe("the preflight", () => {
  it("finds the example's pages and its tunnel", async () => {
    const { settings } = await found({ response: (answer) => (answer.body = answer.body.replace("</body>", NEXT)) });
    expect(settings).toEqual({
      PAGES: "/",
      TRACE: "on",
      ROUTER: "app",
      NOINDEX: "header",
      TRACE_PAGE: "/trace",
      ECHO_PATH: "/api/echo",
      ACTION_PAGE: "/test-events",
      REDIRECT_PAGE: "/test-events/redirect",
      TUNNEL_PATH: "/monitoring",
      SENTRY_DSN: "http://culvert@ingest:8969/1",
    });
  });

  const none = { TRACE_PAGE: "off", ECHO_PATH: "off", ACTION_PAGE: "off", REDIRECT_PAGE: "off", TUNNEL_PATH: "off" };
  it.each([
    ["an App Router without Sentry", `<html><body>${NEXT}</html>`, { TRACE: "off", ROUTER: "app", NOINDEX: "meta" }],
    [
      "a Pages Router with Sentry",
      `<html>${META}<script id="__NEXT_DATA__"></script></html>`,
      { TRACE: "on", ROUTER: "pages", NOINDEX: "meta" },
    ],
  ])("finds what %s lacks", async (_, body, expected) => {
    const { settings, problem } = await found(only(body));
    expect(problem).toBeUndefined();
    expect(settings).toEqual({ PAGES: "/", ...none, ...expected });
  });

  it("keeps what is set, and takes tunnel and DSN from an app with Culvert's package", async () => {
    const fault = only(`<html>${META}${NEXT}</html>`);
    const page = fault.response;
    const telemetry = 'db;dur=1, culvert;desc="dsn=https%3A%2F%2Fk%40o1.ingest.sentry.io%2F7&tunnel=%2Ft"';
    fault.response = (answer, seen) => {
      if (seen.path.startsWith("/t?")) Object.assign(answer, { status: 403 });
      else page?.(answer, seen);
      answer.headers["server-timing"] = telemetry;
    };
    const { settings } = await found(fault, { NOINDEX: "off" });
    expect(settings).toMatchObject({ TUNNEL_PATH: "/t", SENTRY_DSN: "https://k@o1.ingest.sentry.io/7" });
    expect(settings).not.toHaveProperty("NOINDEX");
  });

  it("follows the redirect of a page, and is not misled by an app that redirects every path", async () => {
    const page = only(`<html>${NEXT}</html>`);
    const fault: Fault = {
      response: (answer, seen) => {
        if (!seen.path.startsWith("/en"))
          return Object.assign(answer, { status: 307, headers: { location: `/en${seen.path}` }, body: "" });
        page.response?.(answer, { ...seen, path: seen.path === "/en/" ? "/" : seen.path });
      },
    };
    const { settings } = await found(fault);
    expect(settings).toMatchObject({ ...none, PAGES: "/en/" });
    const { summary } = await runShim("smoke", { BASE_URL: stub.url, ONLY: "notFound", ...settings });
    expect(summary).toMatchObject({ result: "passed" });
  });

  it("says in one line what stops a run", async () => {
    expect((await found({}, { PAGES: "/nowhere" })).problem).toMatch(/\/nowhere responds 404.*set PAGES/);
    expect((await found({}, { RATE: "fast" })).problem).toMatch(/^RATE /);
  });

  it("leaves files to the run: k6 cannot open them here", async () => {
    expect((await found({}, { LIMITS: "limits.json", BASELINE: "summary.json" })).problem).toBeUndefined();
  });

  it("prints settings that can be pasted, and writes a file for run.sh", () => {
    const settings = { PAGES: "/a b,/", TRACE: "on" };
    const { readable, file } = settingsFile(
      { settings, remarks: ["a remark"] },
      { PROFILE: "average", BASE_URL: "https://a.example" },
    );
    expect(readable).toBe(
      "  settings: PROFILE=average BASE_URL=https://a.example PAGES='/a b,/' TRACE=on\n  a remark\n",
    );
    expect(file).toBe("PAGES=/a b,/\nTRACE=on\n");
  });
});

describe("a target that does not answer with a page", () => {
  const answer = { status: 200, headers: {}, body: "", milliseconds: 1, error: "", at: "GET /", traceId: "" };
  const problem = (given: Partial<typeof answer>, env: Record<string, string> = {}) =>
    targetProblem(readOptions(env), "/", { ...answer, ...given });

  it.each([
    ["lookup no.such.host: no such host", "host not found"],
    ["tls: failed to verify certificate: x509: unknown authority", "not trusted: set SSL_CERT_FILE to its CA"],
    ["dial tcp 127.0.0.1:1: connect: connection refused", "connection refused: is the stack up"],
    ["tls: first record does not look like a TLS handshake", "not TLS"],
    ["request timeout", "no response (request timeout)"],
  ])("is rejected with a clear message: %s", (error, words) => {
    expect(problem({ status: 0, error })).toMatch(/^BASE_URL https:\/\/localhost:8443: [^\n]+$/);
    expect(problem({ status: 0, error })).toContain(words);
  });

  it("is rejected if it is another kind of app, or the page does not exist", () => {
    expect(problem({})).toContain("set TRACE=off for an app without Sentry's tracing");
    expect(problem({}, { TRACE: "off" })).toBe("");
    expect(problem({ body: META })).toBe("");
    expect(problem({ status: 404 })).toContain("set PAGES to pages that exist");
  });
});
