import { describe, expect, it } from "vitest";
import { readOptions, TESTED } from "../lib/options.ts";
import { preflight } from "../suite/preflight.ts";
import { targetProblem } from "../suite/target.ts";
import { metas } from "./faults.ts";
import { runShim, settingsIn } from "./run-suite.ts";
import { type Answer, asExample, type Fault, type Seen, startStub, timingOf } from "./stub.ts";

const META = `<meta name="sentry-trace" content="${"a".repeat(32)}-${"b".repeat(16)}-1"/>`;
const NEXT = '<script>self.__next_f.push([1,""])</script></body>';
const SENTRY_DSN = "http://culvert@ingest:8969/1";
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
  const url = await startStub(fault);
  const file = await preflight({ BASE_URL: url, ...env });
  return { url, file, settings: settingsIn(file) };
}

describe("the preflight", () => {
  it.each([
    ["", asExample],
    ["with broken pages", (answer, { path }) => path !== "/" && Object.assign(answer, { status: 500, body: "" })],
    ["without traces", metas],
  ] as [string, NonNullable<Fault["response"]>][])("knows what the example has, also %s", async (_, more) => {
    const { settings } = await found({ response: (...given) => [asExample(...given), more(...given)] });
    const given = { TRACE: "on", TRACE_PAGE: "/trace", ACTION_FORM: "Call the upstream", REDIRECT_STATUS: "307" };
    expect(settings).toMatchObject({ ...given, PAGES: "/", TUNNEL_PATH: "/monitoring", SENTRY_DSN });
    expect(Object.keys(TESTED).filter((name) => !settings[name])).toEqual([]);
  });
  it.each([
    ["an App Router", `<html><h1>Shop, today</h1>${NEXT}</html>`, { ROUTER: "app", EXPECT_TEXT: "/=Shop" }],
    ["a Pages Router", `<html>${META}<script id="__NEXT_DATA__"/></html>`, { TRACE: "on", ROUTER: "pages" }],
  ])("says what it did not see of %s", async (_, body, seen) => {
    const { file, settings } = await found(only(body));
    expect(settings).toEqual({ PAGES: "/", NOINDEX: "meta", EXPECT_HEADERS: "content-encoding", ...seen });
    expect(file).toMatch(/\n# outgoing traces\n#TRACE_PAGE=off\n(#.*\n)*# tunnel\n#TUNNEL_PATH=off\n$/);
  });

  it.each([
    ["a tunnel that rejects", 403, "/monitoring"],
    ["an open relay", 200, "/monitoring"],
    ["a broken tunnel", 502, "/monitoring"],
    ["none", 404, undefined],
  ])("takes %s for what it is", async (_, status, TUNNEL_PATH) => {
    const tunnel = { status, headers: {} };
    const { settings } = await found(
      only(NEXT, (answer, { method }) => method === "POST" && Object.assign(answer, tunnel)),
    );
    expect([settings.TUNNEL_PATH, settings.NOINDEX]).toEqual([TUNNEL_PATH, "meta"]);
  });

  it("keeps what is set, and takes tunnel and DSN from an app with Culvert's package", async () => {
    const dsn = "https://k@o1.ingest.sentry.io/7";
    const fault = only(`<html>${META}${NEXT}</html>`, (answer, { method }) => {
      answer.headers["server-timing"] = `db;dur=1, ${timingOf(dsn, "/t")}`;
      if (method === "POST") answer.status = 403;
    });
    const { settings } = await found(fault, { ROUTER: "pages" });
    expect(settings).toMatchObject({
      TUNNEL_PATH: "/t",
      COMPRESSED: "on",
      SENTRY_DSN: dsn,
      NOINDEX: "meta",
      ROUTER: "pages",
    });
  });

  it("proposes a foreign app's action, and does not run it", async () => {
    const { file } = await found(only(`<html><form><input name="$ACTION_REF_1"></form>${NEXT}`));
    expect(file).toContain("\n#ACTION_PAGE=/\n");
  });

  it("guesses nothing if a TARGET file declares", async () => {
    const declared = { TRACE: "on", TUNNEL_PATH: "/monitoring", ACTION_PAGE: "off" };
    expect((await found({}, { TARGET: "shop.env", ...declared })).settings).toEqual(declared);
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
    expect([settings.PAGES, settings.TUNNEL_PATH]).toEqual(["/en/", undefined]);
    const { summary } = await runShim("smoke", { BASE_URL: url, JOURNEYS: "notFound", BROWSER: "off", ...settings });
    expect(summary).toMatchObject({ result: "passed" });
  });

  it.each([
    [{ PAGES: "/nowhere" }, /PAGES \/nowhere responds 404.*: name pages that exist, or set PAGES=off/],
    [{ PAGES: "off", TUNNEL_PATH: "off" }, /JOURNEYS, PAGES and TUNNEL_PATH leave no journey/],
    [{ ACTION_PAGE: "/nowhere" }, /ACTION_PAGE \/nowhere responds 404.*: name one that exists, or declare it off/],
    [{ TUNNEL_PATH: "/nowhere" }, /TUNNEL_PATH \/nowhere responds 404.*: name one that exists, or declare it off/],
  ] as [Record<string, string>, RegExp][])("says in one line what stops a run: %j", async (env, words) => {
    await expect(found({}, env)).rejects.toThrow(words);
  });

  it("PAGES=off: a tunnel alone is tested, and what is not verified has a name", async () => {
    const alone: Fault["response"] = (answer, { path }) =>
      path.startsWith("/monitoring") || Object.assign(answer, { status: 404, headers: {}, body: "" });
    const { url, settings } = await found({ response: alone }, { PAGES: "off" });
    expect(settings).toEqual({ PAGES: "off", TUNNEL_PATH: "/monitoring", COMPRESSED: "on" });
    const { summary, output } = await runShim("smoke", { BASE_URL: url, NO_BROWSER: "", ...settings });
    expect(summary?.result, output).toBe("passed");
    const names = Object.values(TESTED).filter((name) => name !== "tunnel");
    expect(summary?.unverified.map(({ what }) => what)).toEqual([...names, "delivery", "browser"]);
    for (const journey of ["envelopes", "compressed", "reject"]) expect(summary?.disabled).not.toContain(journey);
  });

  it("sees the tunnel before it judges the journeys", async () => {
    expect((await found({}, { JOURNEYS: "envelopes" })).settings.TUNNEL_PATH).toBe("/monitoring");
  });
});

const NONE = {
  status: 0,
  headers: {},
  body: "",
  milliseconds: 1,
  isReused: true,
  error: "",
  undecodable: false,
  at: "GET /",
  traceId: "",
};
it.each([
  [{ error: "lookup no.such.host: no such host" }, "no such host): is it up, are name and port right?"],
  [{ error: "x509: unknown" }, "no response (x509: unknown): set SSL_CERT_FILE to its CA"],
])("a target without a page is rejected with a clear message: %j", (given, words) => {
  const problem = targetProblem(readOptions({}), "PAGES", "/", { ...NONE, ...given });
  expect(problem).toMatch(/^BASE_URL https:\/\/localhost:8443: [^\n]+$/);
  expect(problem).toContain(words);
});
