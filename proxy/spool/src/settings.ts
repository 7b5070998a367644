import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { defaults } from "./defaults.ts";
import { type Destination, destinations } from "./destination.ts";
import { StartupError } from "./startup-error.ts";

/** All settings. Nothing else in the spool reads the environment. */
export interface Settings {
  destinations: Destination[];
  /** The maximum size of the database on disk. */
  maxBytes: number;
  /** How long an envelope may be queued. */
  maxAgeMs: number;
  /** The maximum of envelopes per second to one ingest, of all replicas together. */
  rate: number;
  /** The name that has the addresses of all ready replicas; undefined: there is one replica. */
  replicas: string | undefined;
  /** The Docker network whose containers may connect; undefined: any container may. */
  internalNetwork: string | undefined;
  /** The trusted CAs as PEM; undefined: the public ones that Node ships. */
  ca: string | undefined;
}

/** The port for the proxy, and the folder of the database. */
export const port = 8082;
export const folder = "/var/lib/spool";

type Env = Record<string, string | undefined>;

/**
 * Takes the environment and returns the settings. An empty variable counts as unset, because compose passes unset ones as empty.
 * Throws a StartupError for the first invalid value.
 */
export function parseSettings(env: Env): Settings {
  return {
    destinations: destinations(env.SENTRY_DSN, env.TUNNEL_ALLOWED_DSNS),
    maxBytes: integer("SPOOL_MAX_MB", env.SPOOL_MAX_MB || defaults.SPOOL_MAX_MB, 1, 1_000_000, "megabytes") * 2 ** 20,
    maxAgeMs: duration("SPOOL_MAX_AGE", env.SPOOL_MAX_AGE || defaults.SPOOL_MAX_AGE),
    rate: integer("SPOOL_RATE", env.SPOOL_RATE || defaults.SPOOL_RATE, 1, 100_000, "envelopes a second"),
    replicas: hostName(env.SPOOL_UPSTREAM),
    internalNetwork: networkName(env.INTERNAL_NETWORK),
    ca: readCa(env.INGEST_CA_FILE),
  };
}

function integer(name: string, value: string, min: number, max: number, unit: string): number {
  const number = Number(value);
  if (/^(?:0|[1-9]\d*)$/.test(value) && number >= min && number <= max) return number;
  throw new StartupError(name, `'${value}' is not a number from ${min} to ${max}`, `give ${unit} as a whole number`);
}

const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

function duration(name: string, value: string): number {
  const [, number, unit] = /^([1-9]\d{0,5})([smhdw])$/.exec(value) ?? [];
  const milliseconds = Number(number) * unitSeconds[unit as keyof typeof unitSeconds] * 1_000;
  if (milliseconds > 0) return milliseconds;
  throw new StartupError(name, `'${value}' is not a duration`, "use a number and s, m, h, d or w, such as 12h or 3d");
}

function networkName(value: string | undefined): string | undefined {
  // It becomes a part of a DNS name.
  if (!value || /^[a-z\d][\w.-]{0,62}$/i.test(value)) return value || undefined;
  throw new StartupError(
    "INTERNAL_NETWORK",
    `'${value}' is not the name of a network`,
    "use the Docker network that proxy, web and spool share, such as culvert_inside",
  );
}

function hostName(value: string | undefined): string | undefined {
  if (!value) return undefined;
  const [, name, port] = /^([\w.-]{1,253}):([1-9]\d{0,4})$/.exec(value) ?? [];
  if (name && Number(port) <= 65_535) return name;
  throw new StartupError(
    "SPOOL_UPSTREAM",
    `'${value}' is not name:port`,
    "use the spool's address, such as spool:8082",
  );
}

/** The proxy reads the same file in the same way: its CAs replace the public ones. */
function readCa(file: string | undefined): string | undefined {
  if (!file) return undefined;
  let problem = `'${file}' cannot be read by uid ${process.getuid?.()}`;
  let fix = "mount a PEM file that this user can read";
  try {
    const pem = readFileSync(file, "utf8");
    problem = `'${file}' holds no certificate`;
    fix = "give a PEM file that begins with -----BEGIN CERTIFICATE-----";
    new X509Certificate(pem);
    return pem;
  } catch {
    throw new StartupError("INGEST_CA_FILE", problem, fix);
  }
}
