import { type Dsn, parseDsn } from "./dsn.ts";

export type Env = Record<string, string | undefined>;

/** In one line: the option, the problem and the fix. */
export class OptionError extends Error {
  constructor(
    message: string,
    readonly exit = 108,
  ) {
    super(message);
  }
}

export type Options = ReturnType<typeof readOptions>;

/** What a target may have, in the summary's words. */
export const TESTED: Record<string, string> = {
  TRACE: "traces",
  ROUTER: "component payloads",
  NOINDEX: "noindex of a 404",
  EXPECT_TEXT: "texts of pages",
  EXPECT_HEADERS: "security headers",
  TRACE_PAGE: "outgoing traces",
  ECHO_PATH: "forwarded headers",
  ACTION_PAGE: "actions",
  REDIRECT_PAGE: "redirects",
  TUNNEL_PATH: "tunnel",
};
/** What else the file that preflight writes for TARGET may declare. */
export const MORE = [
  "PAGES",
  "ACTION_FORM",
  "ACTION_EXPECT",
  "REDIRECT_TO",
  "REDIRECT_STATUS",
  "SENTRY_DSN",
  "EXPECT_RELEASE",
  "EXPECT_ENVIRONMENT",
  "EXPECT_SAMPLE_RATE",
  "SERVER_TIMING",
  "SEND_EVENTS",
  "COMPRESSED",
  "BROWSER",
  "INGEST",
];

const PATH = /^\/[^\s#]*$/;
const ORIGIN = /^https?:\/\/(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?\/?$/;
export const LOCAL_DSN = "http://culvert@ingest:8969/1";
const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600 };

export const isLocal = (origin: string) => /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/.test(origin);

/** Whether a DSN's host is an ingest of a test. Any other one stores events for good. */
export const isLocalIngest = ({ host }: Dsn) =>
  !host.includes(".") || /^127\.|\.(svc(\.cluster\.local)?|local|localhost|internal|test)$|^\[/.test(host);

/** Reads every option. An empty value counts as not set. Throws an OptionError for the first invalid one. */
export function readOptions(env: Env) {
  const known = new Set(["PROFILE", "BASE_URL", "TARGET", "OUT", "SSL_CERT_FILE"]);
  const text = (name: string, fallback = "") => {
    known.add(name);
    return env[name]?.trim() || fallback;
  };
  const declared = (name: string) => text(name).replace(/^off$/, "");
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
  const oneOf = <T extends string>(name: string, fallback: T, ...others: T[]) => {
    const all = [fallback, ...others];
    return option(name, fallback, new RegExp(`^(${all.join("|")})$`), all.join(" or ")) as T;
  };
  const number = (name: string, fallback: string, pattern: RegExp, fix: string) =>
    Number(option(name, fallback, pattern, fix)) || undefined;
  const seconds = (name: string, fallback: string) => {
    const value = option(name, fallback, /^[1-9]\d*[smh]$/, "give a whole number of s, m or h, such as 90s or 10m");
    return Number.parseInt(value, 10) * (UNITS[value.slice(-1)] ?? 0) || undefined;
  };
  const path = (name: string, pattern = PATH, fix = "give a path, or off") =>
    option(name, "off", new RegExp(`^off$|${pattern.source}`), fix).replace(/^off$/, "");

  const baseUrl = option("BASE_URL", "https://localhost:8443", ORIGIN, "give scheme, host and port").replace(/\/$/, "");
  const tunnelPath = path("TUNNEL_PATH", /^\/[^\s#?]+$/);
  if (text("SENTRY_DSN") === "" && !isLocal(baseUrl) && tunnelPath !== "")
    throw new OptionError(`SENTRY_DSN is not set for BASE_URL ${baseUrl}: give the target's DSN, or TUNNEL_PATH=off`);
  const dsn = parseDsn(text("SENTRY_DSN", LOCAL_DSN));
  if (!dsn) throw new OptionError("SENTRY_DSN is not a DSN: give the target's, https://<key>@<host>/<project>");
  // A file for TARGET may be older than COMPRESSED.
  const isInOldTarget = text("TARGET") !== "" && text("COMPRESSED") === "";
  const isCompressed = oneOf("COMPRESSED", "off", "on") === "on" || isInOldTarget;
  const pages = list("PAGES", "/", PATH, "start each path with /, leave out the origin, or give off");
  const ofPages = ["TRACE", "ROUTER", "NOINDEX", "EXPECT_TEXT", "EXPECT_HEADERS"].find((name) => declared(name));
  if (pages.length === 0 && ofPages) throw new OptionError(`${ofPages} is set, but PAGES is off: name pages`);
  const options = {
    baseUrl,
    /** Iterations per second, and seconds, of the plateau; undefined: the profile's default. */
    rate: number("RATE", "", /^(?=.*[1-9])\d{1,5}(\.\d+)?$/, "give iterations per second, such as 10 or 0.5"),
    duration: seconds("DURATION", ""),
    maxVus: number("MAX_VUS", "200", /^[1-9]\d{0,4}$/, "give a number of virtual users") ?? 0,
    timeout: seconds("TIMEOUT", "30s") ?? 0,
    pages,
    expectText: pairs(list("EXPECT_TEXT", "", /^\/[^=]*=.+$/, "give /page=text, comma-separated, or off"), "="),
    expectHeaders: list(
      "EXPECT_HEADERS",
      "",
      /^(\/\S*?:)?[\w-]+([=~].+)?$/,
      "give name, name=value or name~expression, or off",
    ),
    expectRelease: declared("EXPECT_RELEASE"),
    expectEnvironment: declared("EXPECT_ENVIRONMENT"),
    expectSampleRate: option("EXPECT_SAMPLE_RATE", "", /^(0|1|0?\.\d+)$/, "give a rate from 0 to 1"),
    serverTiming: oneOf("SERVER_TIMING", "off", "on") === "on",
    trace: oneOf("TRACE", "off", "on") === "on",
    navigation: oneOf("ROUTER", "off", "app", "pages") === "app",
    noindex: oneOf("NOINDEX", "off", "header", "meta"),
    tracePage: path("TRACE_PAGE"),
    echoPath: path("ECHO_PATH"),
    actionPage: path("ACTION_PAGE"),
    actionForm: text("ACTION_FORM"),
    actionExpect: declared("ACTION_EXPECT"),
    redirectPage: path("REDIRECT_PAGE"),
    redirectTo: declared("REDIRECT_TO"),
    redirectStatus: Number(option("REDIRECT_STATUS", "0", /^0$|^30[12378]$/, "give a status such as 307")),
    tunnelPath,
    compressed: isCompressed && tunnelPath !== "",
    dsn,
    sendEvents: oneOf("SEND_EVENTS", "no", "yes") === "yes" || isLocalIngest(dsn),
    target: text("TARGET"),
    // A desktop sets BROWSER to a program.
    browser: text("BROWSER") !== "off",
    /** Why a browser cannot open pages. */
    noBrowser: pages.length === 0 ? "there is no page" : (env.NO_BROWSER ?? "run.sh did not look for one"),
    journeys: pairs(list("JOURNEYS", "", /^\w+(:(?=.*[1-9])[\d.]+)?$/, "give names, such as browse or browse:80"), ":"),
    reader: env.READER || text("INGEST").replace(/^off$/, ""),
    ingest: path("INGEST", /^https?:\/\/[^\s/]+$/, "give http://host:port, a port for run.sh, or off"),
    deliveryWait: seconds("DELIVERY_WAIT", "60s") ?? 0,
    limits: text("LIMITS"),
    out: text("OUT"),
  };
  const given = [...(env.TARGET_NAMES ?? "").split(" "), ...Object.keys(env).filter((name) => OWN_PREFIX.test(name))];
  const unknown = given.find((name) => name !== "" && !known.has(name) && !name.startsWith("K6_"));
  if (unknown) throw new OptionError(`${unknown} is no setting: did you mean ${nearest(unknown, [...known])}?`, 1);
  return { ...options, declared: [...known].filter((name) => text(name) !== "") };
}

/** Of names that no other program uses. */
const OWN_PREFIX = /^(EXPECT|ACTION|REDIRECT|DELIVERY)_/;

/** The name with the most pairs of characters in common. */
function nearest(name: string, names: string[]): string {
  const pairs = (text: string) => new Set(Array.from(text, (char, at) => char + text.charAt(at + 1)));
  const wanted = pairs(name);
  const common = (other: string) => [...pairs(other)].filter((pair) => wanted.has(pair)).length / other.length;
  return names.reduce((best, other) => (common(other) > common(best) ? other : best));
}

const pairs = (items: string[], separator: string): Record<string, string> =>
  Object.fromEntries(
    items.map((item) => {
      const [name = "", ...value] = item.split(separator);
      return [name, value.join(separator)];
    }),
  );
