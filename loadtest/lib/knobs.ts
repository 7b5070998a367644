import { type Dsn, parseDsn } from "./dsn.ts";

export interface Knobs {
  baseUrl: string;
  /** Visits started a second at the plateau; undefined: the profile's own. */
  rate?: number;
  /** Length of the plateau in seconds; undefined: the profile's own. */
  duration?: number;
  maxVus: number;
  pages: string[];
  /** An empty path turns the journey and its checks off, for an app that has no such page. */
  tracePage: string;
  echoPath: string;
  actionPage: string;
  redirectPage: string;
  tunnelPath: string;
  dsn: Dsn;
  foreignProject: string;
  pageP95: number;
  tunnelP95: number;
  /** Who stops and starts the ingest in an outage: run.sh, or whoever says so; undefined: nobody. */
  outage?: Outage;
  out: string;
}

export type Outage = "switched" | "by-hand";

type Env = Record<string, string | undefined>;

/** One line: the knob, what is wrong, what to do. */
export class KnobError extends Error {}

/**
 * Reads every knob from the environment; the README lists them. Throws a KnobError for the first bad one.
 *
 * An empty value counts as not given, so that `make loadtest RATE=` and compose's `${RATE:-}` mean the default.
 */
export function readKnobs(env: Env): Knobs {
  return {
    baseUrl: baseUrl(env),
    rate: optionalNumber(env, "RATE", 0.01, 10_000),
    duration: optionalSeconds(env, "DURATION"),
    maxVus: maxVus(env),
    pages: text(env, "PAGES", "/")
      .split(",")
      .map((page) => path("PAGES", page.trim())),
    tracePage: optionalPath(env, "TRACE_PAGE", "/trace"),
    echoPath: optionalPath(env, "ECHO_PATH", "/api/echo"),
    actionPage: optionalPath(env, "ACTION_PAGE", "/"),
    redirectPage: optionalPath(env, "REDIRECT_PAGE", "/test-events/redirect"),
    tunnelPath: tunnelPath(env),
    dsn: dsn(env),
    foreignProject: foreignProject(env),
    pageP95: optionalNumber(env, "PAGE_P95_MS", 1, 600_000) ?? 500,
    tunnelP95: optionalNumber(env, "TUNNEL_P95_MS", 1, 600_000) ?? 250,
    outage: outage(env),
    out: text(env, "OUT", ""),
  };
}

function text(env: Env, name: string, fallback: string): string {
  return env[name]?.trim() || fallback;
}

function bad(name: string, value: string, problem: string, fix: string): KnobError {
  return new KnobError(`${name} "${value}" ${problem}: ${fix}`);
}

function baseUrl(env: Env): string {
  const value = text(env, "BASE_URL", "https://localhost:8443");
  if (!/^https?:\/\/(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?\/?$/.test(value))
    throw bad("BASE_URL", value, "is not an origin", "give scheme, host and port only, e.g. https://shop.example:8443");
  return value.replace(/\/$/, "");
}

function optionalNumber(env: Env, name: string, least: number, most: number): number | undefined {
  const value = text(env, name, "");
  if (value === "") return undefined;
  const number = Number(value);
  if (!(number >= least && number <= most))
    throw bad(name, value, "is out of range", `give a number from ${least} to ${most}`);
  return number;
}

function maxVus(env: Env): number {
  const number = optionalNumber(env, "MAX_VUS", 2, 10_000) ?? 200;
  if (!Number.isInteger(number)) throw bad("MAX_VUS", String(number), "is no number of users", "give a whole number");
  return number;
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600 };

function optionalSeconds(env: Env, name: string): number | undefined {
  const value = text(env, name, "");
  if (value === "") return undefined;
  const [, count = "", unit = ""] = /^(\d+)([smh])$/.exec(value) ?? [];
  const seconds = Number(count) * (UNITS[unit] ?? 0);
  if (seconds < 1) throw bad(name, value, "is not a duration", "give a whole number of s, m or h, e.g. 90s or 10m");
  return seconds;
}

function path(name: string, value: string): string {
  if (!/^\/[^\s#]*$/.test(value)) throw bad(name, value, "is not a path", "begin it with / and leave the origin out");
  return value;
}

function optionalPath(env: Env, name: string, fallback: string): string {
  const value = text(env, name, fallback);
  return value === "off" ? "" : path(name, value);
}

function tunnelPath(env: Env): string {
  const value = optionalPath(env, "TUNNEL_PATH", "/monitoring");
  if (value === "/" || value.includes("?"))
    throw bad("TUNNEL_PATH", value, "is no path of the tunnel's own", "give the target's TUNNEL_PATH, or off");
  return value;
}

function dsn(env: Env): Dsn {
  const value = text(env, "SENTRY_DSN", "http://culvert@ingest:8969/1");
  const parsed = parseDsn(value);
  if (!parsed)
    throw new KnobError(
      "SENTRY_DSN is not a DSN: give the one that the target runs with, https://<key>@<host>/<project>",
    );
  return parsed;
}

function outage(env: Env): Outage | undefined {
  const value = text(env, "OUTAGE", "");
  if (value === "" || value === "switched" || value === "by-hand") return value || undefined;
  throw bad("OUTAGE", value, "is nobody", "give by-hand, or leave it to run.sh");
}

function foreignProject(env: Env): string {
  const value = text(env, "FOREIGN_PROJECT", "4040404");
  if (!/^\d+$/.test(value) || value === dsn(env).project)
    throw bad("FOREIGN_PROJECT", value, "will not do", "give a number that is not the DSN's own project");
  return value;
}
