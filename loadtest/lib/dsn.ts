export interface Dsn {
  text: string;
  publicKey: string;
  host: string;
  project: string;
}

/** Reads a DSN; undefined when it is not one. Rule: https://develop.sentry.dev/sdk/foundations/client/dsn/ */
export function parseDsn(text: string): Dsn | undefined {
  const match =
    /^https?:\/\/(\w+)(?::\w*)?@([A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?(?:\/[\w.-]+)*\/(\d+)$/.exec(text);
  const [, publicKey, host, project] = match ?? [];
  return publicKey && host && project ? { text, publicKey, host, project } : undefined;
}

/**
 * The arguments with which an SDK that uses `tunnelRoute` names its project; empty for a host that is not Sentry's own,
 * where the SDK posts to the bare path.
 */
export function tunnelArguments(dsn: Dsn): string {
  const [, org, region] = /^o(\d+)\.ingest(?:\.([a-z]{2}))?\.sentry\.io$/.exec(dsn.host) ?? [];
  return org ? `?o=${org}&p=${dsn.project}${region ? `&r=${region}` : ""}` : "";
}
