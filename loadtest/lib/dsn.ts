import { isHost } from "./host.ts";

export interface Dsn {
  text: string;
  publicKey: string;
  host: string;
  project: string;
}

const pattern =
  /^https?:\/\/(\w+)(?::\w*)?@([^/@[\]:]+|\[[^/@[\]]+\])(?::([1-9]\d{0,4}))?(?:\/(?!\.\.?\/)[\w.-]+)*\/(\d{1,20})$/;
const maxLength = 1_000;

/**
 * Parses a DSN; returns undefined if it is invalid. Rule: https://develop.sentry.dev/sdk/foundations/client/dsn/
 * All four parsers pass the same vectors, deploy/test/vectors/dsn.json.
 */
export function parseDsn(text: string): Dsn | undefined {
  const [, publicKey = "", host = "", port = "1", project = ""] = pattern.exec(text) ?? [];
  if (text.length > maxLength || !isHost(host) || Number(port) > 65_535) return undefined;
  return { text, publicKey, host, project };
}

/**
 * The query with which an SDK that uses `tunnelRoute` names its project; empty for a host other than Sentry's, for which
 * the SDK posts to the path alone.
 */
export function tunnelArguments(dsn: Dsn): string {
  const [, org, region] = /^o(\d+)\.ingest(?:\.([a-z]{2}))?\.sentry\.io$/.exec(dsn.host) ?? [];
  return org ? `?o=${org}&p=${dsn.project}${region ? `&r=${region}` : ""}` : "";
}
