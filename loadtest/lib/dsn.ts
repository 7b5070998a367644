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
 * Reads a DSN; undefined when it is not one. Rule: https://develop.sentry.dev/sdk/foundations/client/dsn/
 * The same as the other three parsers', by the vectors in deploy/test/vectors/dsn.json.
 */
export function parseDsn(text: string): Dsn | undefined {
  const [, publicKey = "", host = "", port = "1", project = ""] = pattern.exec(text) ?? [];
  if (text.length > maxLength || !isHost(host) || Number(port) > 65_535) return undefined;
  return { text, publicKey, host, project };
}

/**
 * The arguments with which an SDK that uses `tunnelRoute` names its project; empty for a host that is not Sentry's own,
 * where the SDK posts to the bare path.
 */
export function tunnelArguments(dsn: Dsn): string {
  const [, org, region] = /^o(\d+)\.ingest(?:\.([a-z]{2}))?\.sentry\.io$/.exec(dsn.host) ?? [];
  return org ? `?o=${org}&p=${dsn.project}${region ? `&r=${region}` : ""}` : "";
}
