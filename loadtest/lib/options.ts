import { type Dsn, parseDsn } from "./dsn.ts";

type Env = Record<string, string | undefined>;

/** An invalid option. The message is one line: the option, the problem and the fix. */
export class OptionError extends Error {}

export type Options = ReturnType<typeof readOptions>;

const PATH = /^\/[^\s#]*$/;
const ORIGIN = /^https?:\/\/(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?\/?$/;
export const LOCAL_DSN = "http://culvert@ingest:8969/1";
const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600 };

/** Whether an address is this machine: only then is the local ingest's DSN a sensible default. */
export const isLocal = (origin: string) => /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/.test(origin);

/** Whether a DSN's host is an ingest of a test: on this machine, in compose or in the cluster. Any other one stores events for good. */
export const isLocalIngest = ({ host }: Dsn) =>
  !host.includes(".") || /^127\.|\.(svc(\.cluster\.local)?|local|localhost|internal|test)$|^\[/.test(host);

/**
 * Reads every option from the environment; the README explains them. Throws an OptionError for the first invalid one.
 *
 * An empty value counts as not set, so that `make loadtest RATE=` and compose's `${RATE:-}` select the default.
 */
export function readOptions(env: Env) {
  const text = (name: string, fallback = "") => env[name]?.trim() || fallback;
  const valid = (name: string, value: string, pattern: RegExp, fix: string) => {
    if (value !== "" && !pattern.test(value)) throw new OptionError(`${name} "${value}" is not valid: ${fix}`);
    return value;
  };
  const option = (name: string, fallback: string, pattern: RegExp, fix: string) =>
    valid(name, text(name, fallback), pattern, fix);
  const list = (name: string, fallback: string, pattern: RegExp, fix: string) =>
    text(name, fallback)
      .replace(/^off$/, "")
      .split(",")
      .map((item) => item.trim())
      .filter(Boolean)
      .map((item) => valid(name, item, pattern, fix));
  const oneOf = <T extends string>(name: string, fallback: T, ...others: T[]) =>
    option(
      name,
      fallback,
      new RegExp(`^(${[fallback, ...others].join("|")})$`),
      [fallback, ...others].join(" or "),
    ) as T;
  const number = (name: string, fallback: string, pattern: RegExp, fix: string) =>
    Number(option(name, fallback, pattern, fix)) || undefined;
  const seconds = (name: string, fallback: string) => {
    const value = option(name, fallback, /^[1-9]\d*[smh]$/, "give a whole number of s, m or h, such as 90s or 10m");
    return Number.parseInt(value, 10) * (UNITS[value.slice(-1)] ?? 0) || undefined;
  };
  /** A page or route of the target; empty if it is off. */
  const path = (name: string, fallback: string, pattern = PATH) =>
    option(name, fallback, new RegExp(`^off$|${pattern.source}`), "give a path, or off").replace(/^off$/, "");

  const actionPage = path("ACTION_PAGE", "/test-events");
  const redirectPage = path("REDIRECT_PAGE", "/test-events/redirect");
  // The results of the example's own pages are known.
  const example = {
    action: /\/test-events$/.test(actionPage),
    redirect: /\/test-events\/redirect$/.test(redirectPage),
  };
  const baseUrl = option("BASE_URL", "https://localhost:8443", ORIGIN, "give scheme, host and port").replace(/\/$/, "");
  const tunnelPath = path("TUNNEL_PATH", "/monitoring", /^\/[^\s#?]+$/);
  if (text("SENTRY_DSN") === "" && !isLocal(baseUrl) && tunnelPath !== "")
    throw new OptionError(`SENTRY_DSN is not set for BASE_URL ${baseUrl}: give the target's DSN, or TUNNEL_PATH=off`);
  const dsn = parseDsn(text("SENTRY_DSN", LOCAL_DSN));
  if (!dsn) throw new OptionError("SENTRY_DSN is not a DSN: give the target's, https://<key>@<host>/<project>");
  return {
    baseUrl,
    /** Iterations per second, and seconds, of the plateau; undefined: the profile's default. */
    rate: number("RATE", "", /^(?=.*[1-9])\d{1,5}(\.\d+)?$/, "give iterations per second, such as 10 or 0.5"),
    duration: seconds("DURATION", ""),
    maxVus: number("MAX_VUS", "200", /^[1-9]\d{0,4}$/, "give a number of virtual users") ?? 0,
    timeout: seconds("TIMEOUT", "30s") ?? 0,
    pages: list("PAGES", "/", PATH, "start each path with /, and leave out the origin"),
    /** A text that a page must contain, by path. */
    expectText: pairs(list("EXPECT_TEXT", "", /^\/[^=]*=.+$/, "give /page=text, comma-separated, or off"), "="),
    /** Headers that every page must have, in lower case. */
    expectHeaders: list("EXPECT_HEADERS", "", /^[\w-]+$/, "give names of headers, comma-separated, or off").map(
      (name) => name.toLowerCase(),
    ),
    /** Whether pages carry a trace for the browser. */
    trace: oneOf("TRACE", "on", "off") === "on",
    /** Whether links are followed with component payloads, as the App Router does. */
    navigation: oneOf("ROUTER", "app", "pages") === "app",
    noindex: oneOf("NOINDEX", "header", "meta", "off"),
    tracePage: path("TRACE_PAGE", "/trace"),
    echoPath: path("ECHO_PATH", "/api/echo"),
    actionPage,
    actionForm: text("ACTION_FORM", example.action ? "Call the upstream" : ""),
    actionExpect: text("ACTION_EXPECT", example.action ? "received trace {trace}" : "").replace(/^off$/, ""),
    redirectPage,
    redirectTo: text(
      "REDIRECT_TO",
      example.redirect ? redirectPage.replace("test-events/redirect", "trace") : "",
    ).replace(/^off$/, ""),
    redirectStatus: Number(option("REDIRECT_STATUS", "0", /^0$|^30[12378]$/, "give a status such as 307")),
    tunnelPath,
    dsn,
    /** Whether envelopes are sent: a project that is not local stores their events for good. */
    sendEvents: oneOf("SEND_EVENTS", "no", "yes") === "yes" || isLocalIngest(dsn),
    /** What the target may have that nobody declared and the preflight did not see, so that it is not tested. */
    notDeclared: (env.NOT_DECLARED ?? "").split(",").filter(Boolean),
    /** Settings that are given, so that what they turn off is no surprise. */
    declared: ["INGEST", "SEND_EVENTS", "ACTION_EXPECT", "REDIRECT_TO"].filter((name) => text(name) !== ""),
    /** The file that declares what the target has. */
    target: text("TARGET"),
    /** Why no browser opens pages; empty: it does. */
    noBrowser: env.NO_BROWSER ?? "run.sh did not look for one",
    skip: list("SKIP", "", /./, ""),
    only: list("ONLY", "", /./, ""),
    /** Shares by journey. */
    journeys: pairs(list("JOURNEYS", "", /^\w+:(?=.*[1-9])[\d.]+$/, "give name:share, such as browse:80"), ":"),
    /** Address of the reader of what arrived; empty: nothing is read back. */
    ingest: option(
      "INGEST",
      "off",
      /^off$|^https?:\/\/[^\s/]+$/,
      "give http://host:port, a port for run.sh, or off",
    ).replace(/^off$/, ""),
    deliveryWait: seconds("DELIVERY_WAIT", "60s") ?? 0,
    limits: text("LIMITS"),
    baseline: text("BASELINE"),
    traceUrl: option("TRACE_URL", "", /^https?:\/\/\S*\{trace_id\}\S*$/, "give an address with {trace_id}"),
    out: text("OUT"),
  };
}

function pairs(items: string[], separator: string): Record<string, string> {
  return Object.fromEntries(
    items.map((item) => [item.slice(0, item.indexOf(separator)), item.slice(item.indexOf(separator) + 1)]),
  );
}
