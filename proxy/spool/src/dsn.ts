import { isHost } from "./host.ts";

/** The parts of a DSN, as written. */
export interface Dsn {
  scheme: string;
  key: string;
  /** An IPv6 address is in brackets. */
  host: string;
  /** Empty for the default port of the scheme. */
  port: string;
  /** The path before the project, without a trailing slash. */
  prefix: string;
  project: string;
}

const pattern =
  /^(https?):\/\/(\w+)(?::\w*)?@([^/@[\]:]+|\[[^/@[\]]+\])(?::([1-9]\d{0,4}))?((?:\/(?!\.\.?\/)[\w.-]+)*)\/(\d{1,20})$/;
const maxLength = 1_000;

/**
 * Takes a DSN and returns its parts, or undefined if it is not valid. Rule: https://develop.sentry.dev/sdk/foundations/client/dsn/
 * The other three parsers share the test vectors in deploy/test/vectors/dsn.json.
 */
export function parseDsn(text: string): Dsn | undefined {
  const [, scheme = "", key = "", host = "", port = "", prefix = "", project = ""] = pattern.exec(text) ?? [];
  if (text.length > maxLength || !isHost(host) || Number(port) > 65_535) return undefined;
  return { scheme, key, host, port, prefix, project };
}
