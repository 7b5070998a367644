import { Refusal } from "./refusal.ts";

/** One address of an ingest that this spool may deliver to. */
export interface Destination {
  /** The whole address, as the proxy names it in `X-Spool-To`. */
  url: string;
  /** What the address takes: envelopes, or a browser's CSP reports. */
  takes: "envelope" | "report";
  /** Host and port, for logs: unlike the address it never carries a key. */
  host: string;
}

const dsnPattern =
  /^(?<scheme>https?):\/\/(?<key>\w+)(?::\w*)?@(?<host>(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?)(?<prefix>(?:\/[\w.-]+)*)\/(?<project>\d+)$/;

/**
 * Takes SENTRY_DSN and TUNNEL_ALLOWED_DSNS as set and returns every address they allow, each once; nothing else is ever delivered to.
 * Throws a Refusal that leaves the value out: logs are read by more people than settings are.
 * The same rule and words as the proxy's: https://develop.sentry.dev/sdk/foundations/client/dsn/
 */
export function destinations(dsn: string | undefined, further: string | undefined): Destination[] {
  if (!dsn) throw new Refusal("SENTRY_DSN", "is empty", fix);
  const others = (further ?? "").split(/[\s,]+/).filter(Boolean);
  const all = [...addresses("SENTRY_DSN", dsn), ...others.flatMap((other) => addresses("TUNNEL_ALLOWED_DSNS", other))];
  return [...new Map(all.map((one) => [one.url, one])).values()];
}

const fix = "copy it from the project's Client Keys page: https://<key>@<host>/<project>";

function addresses(setting: string, dsn: string): Destination[] {
  const parts = dsnPattern.exec(dsn)?.groups;
  if (!parts) throw new Refusal(setting, "is not a DSN", fix);
  const { scheme, key, host = "", prefix, project } = parts;
  const api = `${scheme}://${host}${prefix}/api/${project}`;
  return [
    { url: `${api}/envelope/`, takes: "envelope", host },
    { url: `${api}/security/?sentry_key=${key}`, takes: "report", host },
  ];
}
