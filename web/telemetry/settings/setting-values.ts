import { type Dsn, parseDsn } from "./dsn.js";

/** An invalid setting. Its message is one line: the setting, the problem, the fix. */
export class SettingError extends Error {
  constructor(name: string, problem: string, fix: string) {
    const printable = problem.replaceAll(/\s/g, " ").replaceAll(/[^ -~]/g, "?");
    super(`${name} ${printable.slice(0, 300)}: ${fix}`);
  }
}

// Each of these takes a value of an environment variable and returns it parsed, or throws a SettingError.

/** The DSN, or undefined for no telemetry. */
export function dsn(value: string | undefined): Dsn | undefined {
  if (!value) return undefined;
  // The value stays out of the message: logs are read by more people than settings are.
  const fix =
    "copy it from the project's Client Keys page (https://<key>@<host>/<project>), or unset it for no telemetry";
  return parseDsn(value) ?? reject("SENTRY_DSN", "is not a DSN", fix);
}

/** A name that events are tagged with. Sentry discards names that break these rules: https://docs.sentry.io/platforms/javascript/configuration/environments/ */
export function label(name: string, value: string | undefined, maxLength: number): string | undefined {
  if (!value) return undefined;
  const fix = `use up to ${maxLength} of A-Z a-z 0-9 . _ @ + -, such as v1.4.2`;
  if (value.length > maxLength) reject(name, `has ${value.length} characters`, fix);
  return /^[\w.@+-]+$/.test(value) ? value : reject(name, `'${value}' has a character that Sentry rejects`, fix);
}

/** A share from 0 to 1. */
export function rate(name: string, value: string): number {
  const number = Number(value);
  const fix = "use 0 for no traces, 1 for all, or a share such as 0.1";
  return /^(?:0|1|[01]?\.\d{1,20}|\de-\d{1,2})$/.test(value) && number <= 1
    ? number
    : reject(name, `'${value}' is not a number from 0 to 1`, fix);
}

/** The tunnel's path. The proxy, which serves it, rejects the same values with the same messages. */
export function tunnelPath(value: string | undefined): string | undefined {
  if (!value) return undefined;
  if (/^(?:\/[\w-]+)+$/.test(value) && value.length <= 200 && !/^\/_next(?:\/|$)/.test(value)) return value;
  const kind = "a path of A-Z a-z 0-9 _ - between slashes, of 200 characters at most, outside /_next";
  const fix = "use a path of your own such as /monitoring or /api/reports";
  return reject("TUNNEL_PATH", `'${value}' is not ${kind}`, fix);
}

/** Takes the value of a setting and returns its URL, or null. The check comes first because the parser drops line breaks and encodes invalid characters. */
export function parseAddress(value: string): URL | null {
  const parsed = /^[!-~]+$/.test(value) && !/["'<>\\^`{}|]/.test(value) ? URL.parse(value) : null;
  return parsed?.hostname ? parsed : null;
}

/** Where this server sends its own envelopes, over plain HTTP inside the network; undefined: directly to the ingest. */
export function serverTunnel(value: string | undefined): URL | undefined {
  if (!value) return undefined;
  const parsed = parseAddress(value);
  const fix = "use the proxy's own listener for it, http://proxy:8083/envelopes";
  return parsed?.protocol === "http:" ? parsed : reject("SERVER_TUNNEL", "is not an http address", fix);
}

/** A plain HTTP service, given as name:port. */
export function service(name: string, value: string | undefined): URL | undefined {
  if (!value) return undefined;
  const parsed = /^([\w.-]+|\[[\da-f:.]+\]):[1-9]\d*$/i.test(value) ? URL.parse(`http://${value}`) : null;
  return parsed ?? reject(name, `'${value}' is not name:port`, "use the spool's address, such as spool:8082");
}

/** Origins, separated by spaces or commas. */
export function origins(name: string, value: string | undefined): string[] {
  return (value ?? "")
    .split(/[ ,]+/)
    .filter(Boolean)
    .map((text) => {
      const origin = parseAddress(text)?.origin;
      const fix = "list origins such as https://api.example.com:8443, separated by spaces";
      return text === origin ? origin : reject(name, `'${text}' is not an origin (scheme, host and port only)`, fix);
    });
}

function reject(name: string, problem: string, fix: string): never {
  throw new SettingError(name, problem, fix);
}
