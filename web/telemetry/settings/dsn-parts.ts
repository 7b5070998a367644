// Copied by `make settings` from proxy/spool/src/dsn.ts.

/** The parts of a DSN, as the URL standard writes them: a host in lower case, and an IPv6 address in brackets. */
export interface DsnParts {
  scheme: string;
  key: string;
  host: string;
  /** Empty for the default port of the scheme. */
  port: string;
  /** The path before the project, without a trailing slash. */
  prefix: string;
  project: string;
}

/** {scheme}://{key}[:{secret}]@{host}[:{port}][{/prefix}]/{project}: https://develop.sentry.dev/sdk/foundations/client/dsn/ */
const pattern = /^(https?):\/\/(\w+)(?::\w*)?@([^:@/]+|\[.+\])(?::\d+)?((?:\/[\w-][\w.-]*)*)\/(\d{1,20})$/;
const name = /^(?=.{1,253}$)(?:\w(?:[\w-]{0,61}\w)?\.)*\w(?:[\w-]{0,61}\w)?$/;

/** Takes a DSN and returns its parts, or undefined if the proxy rejects it. */
export function parseDsn(text: string): DsnParts | undefined {
  if (text.length > 500) return undefined;
  const [, scheme = "", key = "", host = "", prefix = "", project = ""] = pattern.exec(text) ?? [];
  const url = scheme ? URL.parse(text) : null;
  if (!url || url.port === "0") return undefined;
  // URL reads 0x7f.1 as 127.0.0.1.
  if (!host.startsWith("[") && !(name.test(host) && url.hostname === host.toLowerCase())) return undefined;
  return { scheme, key, host: url.hostname, port: url.port, prefix, project };
}
