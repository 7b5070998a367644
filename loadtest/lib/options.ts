import { type Dsn, parseDsn } from "./dsn.ts";

export interface Options {
  baseUrl: string;
  /** Iterations started per second at the plateau; undefined: the profile's default. */
  rate?: number;
  /** Length of the plateau in seconds; undefined: the profile's default. */
  duration?: number;
  maxVus: number;
  /** A request without a response for so long has timed out. */
  timeout: number;
  pages: string[];
  /** A text that a page must contain, by path. */
  expectText: Record<string, string>;
  /** Whether pages carry a trace for the browser. */
  trace: boolean;
  /** Whether links are followed with component payloads, as the App Router does. */
  navigation: boolean;
  /** Where a 404 must say that it is not to be indexed. */
  noindex: "header" | "meta" | "off";
  /** An empty path disables the journey and its checks, for an app that has no such page. */
  tracePage: string;
  echoPath: string;
  actionPage: string;
  /** A text in the form that is submitted, if the page has several. */
  actionForm: string;
  /** What the page shows after the action ran; `{trace}` is the trace id of the request. */
  actionExpect: string;
  redirectPage: string;
  redirectTo: string;
  tunnelPath: string;
  dsn: Dsn;
  foreignProject: string;
  /** Events may be stored in a project that is not local. */
  sendEvents: boolean;
  /** Journeys by name: left out, run alone, and their shares. */
  skip: string[];
  only: string[];
  journeys: Record<string, number>;
  /** Address of the reader that says what arrived; empty: nothing is read back. */
  ingest: string;
  /** Seconds to wait for what has not arrived at the end of the run: the spool and Sentry take a while. */
  deliveryWait: number;
  /** Limits and baseline: a file below loadtest/, or JSON. */
  limits: string;
  baseline: string;
  /** Link to a trace in the report, with `{trace_id}`. */
  traceUrl: string;
  /** Whether run.sh or the operator stops and starts the ingest; undefined: neither. */
  outage?: "automatic" | "manual";
  out: string;
}

type Env = Record<string, string | undefined>;

/** An invalid option. The message is one line: the option, the problem and the fix. */
export class OptionError extends Error {}

const LOCAL_DSN = "http://culvert@ingest:8969/1";

/**
 * Reads every option from the environment; the README lists them. Throws an OptionError for the first invalid one.
 *
 * An empty value counts as not set, so that `make loadtest RATE=` and compose's `${RATE:-}` select the default.
 */
export function readOptions(env: Env): Options {
  const { actionPage, redirectPage } = {
    actionPage: optionalPath(env, "ACTION_PAGE", "/test-events"),
    redirectPage: optionalPath(env, "REDIRECT_PAGE", "/test-events/redirect"),
  };
  const example = { action: actionPage === "/test-events", redirect: redirectPage === "/test-events/redirect" };
  return {
    baseUrl: matching(env, "BASE_URL", "https://localhost:8443", ORIGIN, "give scheme, host and port only").replace(
      /\/$/,
      "",
    ),
    rate: optionalNumber(env, "RATE", 0.01, 10_000),
    duration: optionalSeconds(env, "DURATION"),
    maxVus: wholeNumber(env, "MAX_VUS", 200),
    timeout: optionalSeconds(env, "TIMEOUT") ?? 30,
    pages: list(env, "PAGES", "/").map((page) => path("PAGES", page)),
    expectText: Object.fromEntries(list(env, "EXPECT_TEXT").map((pair) => pathAndText(pair))),
    trace: oneOf(env, "TRACE", ["on", "off"]) === "on",
    navigation: oneOf(env, "ROUTER", ["app", "pages"]) === "app",
    noindex: oneOf(env, "NOINDEX", ["header", "meta", "off"]),
    tracePage: optionalPath(env, "TRACE_PAGE", "/trace"),
    echoPath: optionalPath(env, "ECHO_PATH", "/api/echo"),
    actionPage,
    actionForm: text(env, "ACTION_FORM", example.action ? "Call the upstream" : ""),
    actionExpect: text(env, "ACTION_EXPECT", example.action ? "received trace {trace}" : ""),
    redirectPage,
    redirectTo: text(env, "REDIRECT_TO", example.redirect ? "/trace" : ""),
    tunnelPath: tunnelPath(env),
    dsn: dsn(env),
    foreignProject: foreignProject(env),
    sendEvents: oneOf(env, "SEND_EVENTS", ["no", "yes"]) === "yes",
    skip: list(env, "SKIP"),
    only: list(env, "ONLY"),
    journeys: Object.fromEntries(list(env, "JOURNEYS").map((pair) => nameAndShare(pair))),
    ingest: matching(
      env,
      "INGEST",
      "off",
      /^off$|^https?:\/\/[^\s/]+$/,
      "give http://host:port, a port for run.sh, or off",
    ).replace(/^off$/, ""),
    deliveryWait: optionalSeconds(env, "DELIVERY_WAIT") ?? 60,
    limits: text(env, "LIMITS"),
    baseline: text(env, "BASELINE"),
    traceUrl: matching(env, "TRACE_URL", "", /^$|^https?:\/\/\S*\{trace_id\}\S*$/, "give an address with {trace_id}"),
    outage: outage(env),
    out: text(env, "OUT"),
  };
}

const ORIGIN = /^https?:\/\/(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?\/?$/;

/** Whether an address is this machine: only then is the local ingest's DSN a sensible default. */
export const isLocal = (origin: string) => /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/.test(origin);

/** Whether a DSN's host is an ingest of a test: on this machine, in compose or in the cluster. Any other one stores events for good. */
export const isLocalIngest = ({ host }: Dsn) =>
  !host.includes(".") || /^127\.|\.(svc(\.cluster\.local)?|local|localhost|internal|test)$|^\[/.test(host);

function text(env: Env, name: string, fallback = ""): string {
  return env[name]?.trim() || fallback;
}

function list(env: Env, name: string, fallback = ""): string[] {
  return text(env, name, fallback)
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean);
}

function invalid(name: string, value: string, problem: string, fix: string): OptionError {
  return new OptionError(`${name} "${value}" ${problem}: ${fix}`);
}

function matching(env: Env, name: string, fallback: string, pattern: RegExp, fix: string): string {
  const value = text(env, name, fallback);
  if (!pattern.test(value)) throw invalid(name, value, "is not valid", fix);
  return value;
}

function oneOf<T extends string>(env: Env, name: string, values: readonly [T, ...T[]]): T {
  const value = text(env, name, values[0]);
  const known = values.find((one) => one === value);
  if (!known) throw invalid(name, value, "is not valid", `give ${values.join(" or ")}`);
  return known;
}

function optionalNumber(env: Env, name: string, min: number, max: number): number | undefined {
  const value = text(env, name);
  if (value === "") return undefined;
  const number = Number(value);
  if (!(number >= min && number <= max))
    throw invalid(name, value, "is out of range", `give a number from ${min} to ${max}`);
  return number;
}

function wholeNumber(env: Env, name: string, fallback: number): number {
  const number = optionalNumber(env, name, 2, 10_000) ?? fallback;
  if (!Number.isInteger(number)) throw invalid(name, String(number), "is not a number of users", "give a whole number");
  return number;
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600 };

function optionalSeconds(env: Env, name: string): number | undefined {
  const value = text(env, name);
  if (value === "") return undefined;
  const [, count = "", unit = ""] = /^(\d+)([smh])$/.exec(value) ?? [];
  const seconds = Number(count) * (UNITS[unit] ?? 0);
  if (seconds < 1) throw invalid(name, value, "is not a duration", "give a whole number of s, m or h, e.g. 90s or 10m");
  return seconds;
}

function path(name: string, value: string): string {
  if (!/^\/[^\s#]*$/.test(value)) throw invalid(name, value, "is not a path", "start with / and leave out the origin");
  return value;
}

function optionalPath(env: Env, name: string, fallback: string): string {
  const value = text(env, name, fallback);
  return value === "off" ? "" : path(name, value);
}

function pathAndText(pair: string): [path: string, text: string] {
  const [, page = "", expected = ""] = /^(\/[^=]*)=(.+)$/.exec(pair) ?? [];
  if (page === "") throw invalid("EXPECT_TEXT", pair, "is not valid", "give /page=text, comma-separated");
  return [page, expected];
}

function nameAndShare(pair: string): [name: string, share: number] {
  const [, name = "", share = ""] = /^(\w+):(\d+(?:\.\d+)?)$/.exec(pair) ?? [];
  if (!(Number(share) > 0))
    throw invalid("JOURNEYS", pair, "is not valid", "give name:share, comma-separated, e.g. browse:80,envelopes:20");
  return [name, Number(share)];
}

function tunnelPath(env: Env): string {
  const value = optionalPath(env, "TUNNEL_PATH", "/monitoring");
  if (value === "/" || value.includes("?"))
    throw invalid("TUNNEL_PATH", value, "is not a path of its own", "give the target's TUNNEL_PATH, or off");
  return value;
}

function dsn(env: Env): Dsn {
  const value = text(env, "SENTRY_DSN");
  const origin = text(env, "BASE_URL", "https://localhost");
  if (value === "" && !isLocal(origin) && tunnelPath(env) !== "")
    throw new OptionError(`SENTRY_DSN is not set for BASE_URL ${origin}: give the target's DSN, or TUNNEL_PATH=off`);
  const parsed = parseDsn(value || LOCAL_DSN);
  if (!parsed) throw new OptionError("SENTRY_DSN is not a DSN: give the target's, https://<key>@<host>/<project>");
  return parsed;
}

function outage(env: Env): Options["outage"] {
  const value = text(env, "OUTAGE");
  if (value === "" || value === "automatic" || value === "manual") return value || undefined;
  throw invalid("OUTAGE", value, "is invalid", "give manual, or leave it to run.sh");
}

function foreignProject(env: Env): string {
  const value = text(env, "FOREIGN_PROJECT", "4040404");
  if (!/^\d+$/.test(value) || value === dsn(env).project)
    throw invalid("FOREIGN_PROJECT", value, "is invalid", "give a number other than the DSN's own project");
  return value;
}
