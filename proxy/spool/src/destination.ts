import { parseDsn } from "./dsn.ts";
import { StartupError } from "./startup-error.ts";

/** An address of an ingest that this spool may deliver to. */
export interface Destination {
  /** The full address, as the URL standard writes it. */
  url: string;
  accepts: "envelope" | "csp_report";
  /** Host and port, for logs: unlike the address they never contain a key. */
  host: string;
}

/**
 * Takes SENTRY_DSN and TUNNEL_ALLOWED_DSNS as set and returns every address they allow, without duplicates; the spool delivers to no other.
 * Throws a StartupError without the value: more people read logs than settings.
 */
export function destinations(dsn: string | undefined, allowedDsns: string | undefined): Destination[] {
  if (!dsn) throw new StartupError("SENTRY_DSN", "is empty", fix);
  const others = (allowedDsns ?? "").split(/[ ,]+/).filter(Boolean);
  const all = [...addresses("SENTRY_DSN", dsn), ...others.flatMap((other) => addresses("TUNNEL_ALLOWED_DSNS", other))];
  return [...new Map(all.map((destination) => [destination.url, destination])).values()];
}

const fix = "copy it from the project's Client Keys page: https://<key>@<host>/<project>";

function addresses(setting: string, dsn: string): Destination[] {
  const { scheme, key, host: name, port, prefix, project } = parseDsn(dsn) ?? {};
  if (!scheme) throw new StartupError(setting, "is not a DSN", fix);
  const host = port ? `${name}:${port}` : `${name}`;
  const api = `${scheme}://${host}${prefix}/api/${project}`;
  return [
    { url: `${api}/envelope/`, accepts: "envelope", host },
    { url: `${api}/security/?sentry_key=${key}`, accepts: "csp_report", host },
  ];
}
