import { type Dsn, parseDsn } from "./dsn.ts";

export interface Options {
  baseUrl: string;
  /** Iterations started per second at the plateau; undefined: the profile's default. */
  rate?: number;
  /** Length of the plateau in seconds; undefined: the profile's default. */
  duration?: number;
  maxVus: number;
  pages: string[];
  /** An empty path disables the journey and its checks, for an app that has no such page. */
  tracePage: string;
  echoPath: string;
  actionPage: string;
  redirectPage: string;
  tunnelPath: string;
  dsn: Dsn;
  foreignProject: string;
  maxPageP95Ms: number;
  maxTunnelP95Ms: number;
  /** Whether run.sh or the operator stops and starts the ingest; undefined: neither. */
  outage?: Outage;
  out: string;
}

export type Outage = "automatic" | "manual";

type Env = Record<string, string | undefined>;

/** An invalid option. The message is one line: the option, the problem and the fix. */
export class OptionError extends Error {}

/**
 * Reads every option from the environment; the README lists them. Throws an OptionError for the first invalid one.
 *
 * An empty value counts as not set, so that `make loadtest RATE=` and compose's `${RATE:-}` select the default.
 */
export function readOptions(env: Env): Options {
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
    maxPageP95Ms: optionalNumber(env, "PAGE_P95_MS", 1, 600_000) ?? 500,
    maxTunnelP95Ms: optionalNumber(env, "TUNNEL_P95_MS", 1, 600_000) ?? 250,
    outage: outage(env),
    out: text(env, "OUT", ""),
  };
}

function text(env: Env, name: string, fallback: string): string {
  return env[name]?.trim() || fallback;
}

function invalid(name: string, value: string, problem: string, fix: string): OptionError {
  return new OptionError(`${name} "${value}" ${problem}: ${fix}`);
}

function baseUrl(env: Env): string {
  const value = text(env, "BASE_URL", "https://localhost:8443");
  if (!/^https?:\/\/(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?\/?$/.test(value))
    throw invalid(
      "BASE_URL",
      value,
      "is not an origin",
      "give scheme, host and port only, e.g. https://shop.example:8443",
    );
  return value.replace(/\/$/, "");
}

function optionalNumber(env: Env, name: string, min: number, max: number): number | undefined {
  const value = text(env, name, "");
  if (value === "") return undefined;
  const number = Number(value);
  if (!(number >= min && number <= max))
    throw invalid(name, value, "is out of range", `give a number from ${min} to ${max}`);
  return number;
}

function maxVus(env: Env): number {
  const number = optionalNumber(env, "MAX_VUS", 2, 10_000) ?? 200;
  if (!Number.isInteger(number))
    throw invalid("MAX_VUS", String(number), "is not a number of users", "give a whole number");
  return number;
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600 };

function optionalSeconds(env: Env, name: string): number | undefined {
  const value = text(env, name, "");
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

function tunnelPath(env: Env): string {
  const value = optionalPath(env, "TUNNEL_PATH", "/monitoring");
  if (value === "/" || value.includes("?"))
    throw invalid("TUNNEL_PATH", value, "is not a path of its own", "give the target's TUNNEL_PATH, or off");
  return value;
}

function dsn(env: Env): Dsn {
  const value = text(env, "SENTRY_DSN", "http://culvert@ingest:8969/1");
  const parsed = parseDsn(value);
  if (!parsed) throw new OptionError("SENTRY_DSN is not a DSN: give the target's, https://<key>@<host>/<project>");
  return parsed;
}

function outage(env: Env): Outage | undefined {
  const value = text(env, "OUTAGE", "");
  if (value === "" || value === "automatic" || value === "manual") return value || undefined;
  throw invalid("OUTAGE", value, "is invalid", "give manual, or leave it to run.sh");
}

function foreignProject(env: Env): string {
  const value = text(env, "FOREIGN_PROJECT", "4040404");
  if (!/^\d+$/.test(value) || value === dsn(env).project)
    throw invalid("FOREIGN_PROJECT", value, "is invalid", "give a number other than the DSN's own project");
  return value;
}
