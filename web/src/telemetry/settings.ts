import { type Dsn, parseDsn } from "./dsn";

/** Everything an operator can set. Nothing else in this app reads `process.env`. */
export type Settings = {
  /** Where reports go; undefined turns telemetry off. */
  dsn: Dsn | undefined;
  environment: string;
  release: string | undefined;
  /** Share of page views whose trace is recorded, 0 to 1. Errors are always reported. */
  tracesSampleRate: number;
  /** The path on the own origin to which browsers post reports. The proxy answers it, never this app. */
  tunnelPath: string;
  /** The API that `/trace` calls while rendering; only its origin is sent trace headers. */
  upstreamUrl: URL;
};

/** A setting that can't be meant. Its message is one line: the setting, the problem, the fix. */
export class SettingError extends Error {
  constructor(name: string, problem: string, fix: string) {
    super(`${name} ${problem}: ${fix}`);
  }
}

type Env = Record<string, string | undefined>;

/**
 * Takes the environment and returns the settings. An empty variable counts as unset, as compose passes unset ones on.
 * Throws a SettingError for the first setting that can't be meant.
 */
export function parseSettings(env: Env): Settings {
  return {
    dsn: dsn(env.SENTRY_DSN),
    environment: label("SENTRY_ENVIRONMENT", env.SENTRY_ENVIRONMENT, 64) ?? "production",
    release: label("SENTRY_RELEASE", env.SENTRY_RELEASE, 200),
    tracesSampleRate: rate("SENTRY_TRACES_SAMPLE_RATE", env.SENTRY_TRACES_SAMPLE_RATE || "1"),
    tunnelPath: tunnelPath(env.TUNNEL_PATH || "/monitoring"),
    upstreamUrl: url("UPSTREAM_URL", env.UPSTREAM_URL || `http://127.0.0.1:${env.PORT || 3000}/api/echo`),
  };
}

let loaded: Settings | undefined;

/** Returns the settings of this process. Throws a SettingError, at boot if at all (see server.ts). */
export function settings(): Settings {
  loaded ??= parseSettings(process.env);
  return loaded;
}

function dsn(value: string | undefined): Dsn | undefined {
  if (!value) return undefined;
  // The value stays out of the message: logs are read by more people than settings are.
  const fix =
    "copy it from the project's Client Keys page (https://<key>@<host>/<project>), or unset it for no telemetry";
  return parseDsn(value) ?? refuse("SENTRY_DSN", "is not a DSN", fix);
}

/** Sentry discards what breaks these rules: https://docs.sentry.io/platforms/javascript/configuration/environments/ */
function label(name: string, value: string | undefined, longest: number): string | undefined {
  if (!value) return undefined;
  const fix = `use up to ${longest} of A-Z a-z 0-9 . _ @ + -, such as v1.4.2`;
  if (value.length > longest) refuse(name, `has ${value.length} characters`, fix);
  return /^[\w.@+-]+$/.test(value) ? value : refuse(name, `'${value}' has a character that Sentry refuses`, fix);
}

function rate(name: string, value: string): number {
  const number = Number(value);
  const fix = "use 0 for no traces, 1 for all, or a share such as 0.1";
  return /\d/.test(value) && number >= 0 && number <= 1
    ? number
    : refuse(name, `'${value}' is not a number from 0 to 1`, fix);
}

/** The proxy, which serves this path, refuses the same values with the same words. */
function tunnelPath(value: string): string {
  const bad = (problem: string) =>
    refuse("TUNNEL_PATH", `'${value}' ${problem}`, "use a path of your own such as /monitoring or /api/reports");
  if (!value.startsWith("/")) return bad("does not start with a slash");
  if (value === "/") return bad("would hide the whole app");
  if (/^\/_next(\/|$)/.test(value)) return bad("belongs to Next.js");
  if (/[^\w/-]/.test(value)) return bad("has a character outside A-Z a-z 0-9 / _ -");
  return /\/(\/|$)/.test(value) ? bad("has an empty segment") : value;
}

function url(name: string, value: string): URL {
  const parsed = URL.parse(value);
  const usable = parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password;
  const fix = "use an address such as https://api.example.com/v1/status";
  return usable ? parsed : refuse(name, "is not an http(s) address without credentials", fix);
}

function refuse(name: string, problem: string, fix: string): never {
  throw new SettingError(name, problem.replaceAll(/\s/g, " "), fix);
}
