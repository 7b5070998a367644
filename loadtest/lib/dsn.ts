export interface Dsn {
  text: string;
  publicKey: string;
  host: string;
  project: string;
}

/** https://develop.sentry.dev/sdk/foundations/client/dsn/ */
const pattern = /^https?:\/\/(\w+)(?::\w*)?@([\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?(?:\/\w[\w.-]*)*\/(\d{1,20})$/;

/** Parses a DSN; returns undefined if it is invalid. k6 has no URL. */
export function parseDsn(text: string): Dsn | undefined {
  const [, publicKey = "", host = "", project = ""] = text.length > 500 ? [] : (pattern.exec(text) ?? []);
  return host ? { text, publicKey, host, project } : undefined;
}

/** The query with which an SDK names its project; empty for a host other than Sentry's. */
export function tunnelArguments(dsn: Dsn): string {
  const [, org, region] = /^o(\d+)\.ingest(?:\.([a-z]{2}))?\.sentry\.io$/.exec(dsn.host) ?? [];
  return org ? `?o=${org}&p=${dsn.project}${region ? `&r=${region}` : ""}` : "";
}

export const foreignProject = ({ project }: Dsn) => (project === "4040404" ? "4040405" : "4040404");
