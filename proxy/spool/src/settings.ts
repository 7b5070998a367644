import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Destination, destinations } from "./destination.ts";
import { StartupError } from "./startup-error.ts";

/** Everything an operator can set. Nothing else in the spool reads the environment. */
export interface Settings {
  destinations: Destination[];
  /** The most that the database may take on disk, in bytes. */
  maxBytes: number;
  /** How long an envelope is kept, in milliseconds. */
  maxAge: number;
  /** The most envelopes a second that one ingest is given. */
  rate: number;
  /** The only CAs believed, as PEM; undefined: the public ones that Node ships. */
  ca: string | undefined;
}

/** Where the proxy reaches the spool, and where the spool keeps what it took. */
export const port = 8082;
export const folder = "/var/lib/spool";

type Env = Record<string, string | undefined>;

/**
 * Takes the environment and returns the settings. An empty variable counts as unset, as compose passes unset ones on.
 * Throws a StartupError for the first setting that can't be meant.
 */
export function parseSettings(env: Env): Settings {
  return {
    destinations: destinations(env.SENTRY_DSN, env.TUNNEL_ALLOWED_DSNS),
    maxBytes: whole("SPOOL_MAX_MB", env.SPOOL_MAX_MB || "512", 1, 1_000_000, "megabytes") * 2 ** 20,
    maxAge: age("SPOOL_MAX_AGE", env.SPOOL_MAX_AGE || "3d"),
    rate: whole("SPOOL_RATE", env.SPOOL_RATE || "500", 1, 100_000, "envelopes a second"),
    ca: authority(env.INGEST_CA_FILE),
  };
}

function whole(name: string, value: string, least: number, most: number, unit: string): number {
  const number = Number(value);
  if (/^(?:0|[1-9]\d*)$/.test(value) && number >= least && number <= most) return number;
  throw new StartupError(name, `'${value}' is not a number from ${least} to ${most}`, `give ${unit} as a whole number`);
}

const seconds = { s: 1, m: 60, h: 3_600, d: 86_400 };

function age(name: string, value: string): number {
  const [, number, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(value) ?? [];
  const time = Number(number) * seconds[unit as keyof typeof seconds] * 1_000;
  if (time > 0) return time;
  throw new StartupError(
    name,
    `'${value}' is not a length of time`,
    "use a number and s, m, h or d, such as 12h or 3d",
  );
}

/** As the proxy does with the same file: its certificates, and no others, are believed. */
function authority(file: string | undefined): string | undefined {
  if (!file) return undefined;
  const name = "INGEST_CA_FILE";
  let pem: string;
  try {
    pem = readFileSync(file, "utf8");
  } catch {
    throw new StartupError(
      name,
      `'${file}' can't be read by uid ${process.getuid?.()}`,
      "mount a PEM file that this user may read",
    );
  }
  try {
    new X509Certificate(pem);
    return pem;
  } catch {
    const fix = "give a PEM file that begins with -----BEGIN CERTIFICATE-----";
    throw new StartupError(name, `'${file}' holds no certificate`, fix);
  }
}
