import { isHost } from "./host.ts";

/** The parts of a DSN, as written. */
export interface Dsn {
  scheme: string;
  key: string;
  /** An IPv6 address is in brackets. */
  host: string;
  /** Empty for the scheme's own. */
  port: string;
  /** What stands before the project, without a slash at its end. */
  prefix: string;
  project: string;
}

const pattern =
  /^(https?):\/\/(\w+)(?::\w*)?@([^/@[\]:]+|\[[^/@[\]]+\])(?::([1-9]\d{0,4}))?((?:\/(?!\.\.?\/)[\w.-]+)*)\/(\d{1,20})$/;
const maxLength = 1_000;

/**
 * Takes a DSN and returns its parts, or undefined for what is none. Rule: https://develop.sentry.dev/sdk/foundations/client/dsn/
 * The same as the other three parsers', by the vectors in deploy/test/vectors/dsn.json.
 */
export function parseDsn(text: string): Dsn | undefined {
  const [, scheme = "", key = "", host = "", port = "", prefix = "", project = ""] = pattern.exec(text) ?? [];
  if (text.length > maxLength || !isHost(host) || Number(port) > 65_535) return undefined;
  return { scheme, key, host, port, prefix, project };
}
