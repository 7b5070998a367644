import { parseDsn } from "./dsn.ts";
import { StartupError } from "./startup-error.ts";

/** One address of an ingest that this spool may deliver to. */
export interface Destination {
  /** The whole address, as the proxy names it in `X-Spool-Destination`. */
  url: string;
  /** What the address takes: envelopes, or a browser's CSP reports. */
  takes: "envelope" | "report";
  /** Host and port, for logs: unlike the address it never carries a key. */
  host: string;
}

/**
 * Takes SENTRY_DSN and TUNNEL_ALLOWED_DSNS as set and returns every address they allow, each once; nothing else is ever delivered to.
 * Throws a StartupError that leaves the value out: logs are read by more people than settings are.
 */
export function destinations(dsn: string | undefined, further: string | undefined): Destination[] {
  if (!dsn) throw new StartupError("SENTRY_DSN", "is empty", fix);
  const others = (further ?? "").split(/[ ,]+/).filter(Boolean);
  const all = [...addresses("SENTRY_DSN", dsn), ...others.flatMap((other) => addresses("TUNNEL_ALLOWED_DSNS", other))];
  return [...new Map(all.map((one) => [one.url, one])).values()];
}

const fix = "copy it from the project's Client Keys page: https://<key>@<host>/<project>";

function addresses(setting: string, dsn: string): Destination[] {
  const parts = parseDsn(dsn);
  if (!parts) throw new StartupError(setting, "is not a DSN", fix);
  const { scheme, key, prefix, project } = parts;
  const host = parts.port ? `${parts.host}:${parts.port}` : parts.host;
  const api = `${scheme}://${host}${prefix}/api/${project}`;
  return [
    { url: `${api}/envelope/`, takes: "envelope", host },
    { url: `${api}/security/?sentry_key=${key}`, takes: "report", host },
  ];
}
