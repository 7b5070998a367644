/** The parts of a DSN, as the URL standard writes them: a host in lower case, and an IPv6 address in brackets. */
export interface Dsn {
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
const pattern = /^(https?):\/\/(\w+)(?::\w*)?@(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?((?:\/\w[\w.-]*)*)\/(\d{1,20})$/;

/** Takes a DSN and returns its parts, or undefined if it is not valid. The host and the port are for URL to judge. */
export function parseDsn(text: string): Dsn | undefined {
  const [, scheme = "", key = "", prefix = "", project = ""] = pattern.exec(text) ?? [];
  const url = scheme ? URL.parse(text) : null;
  return url ? { scheme, key, host: url.hostname, port: url.port, prefix, project } : undefined;
}
