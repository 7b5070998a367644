/** {scheme}://{key}[:{secret}]@{host}[:{port}][{/prefix}]/{project}: https://develop.sentry.dev/sdk/foundations/client/dsn/ */
const DSN = /^(https?):\/\/(\w+)(?::\w*)?@(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?((?:\/\w[\w.-]*)*)\/(\d{1,20})$/;

export type Dsn = {
  /** The DSN without the secret half of a legacy key: the only form that may reach a browser. */
  public: string;
  /** Host and port of the ingest, for people to read. */
  host: string;
  /** Where the ingest accepts envelopes. */
  envelopeUrl: string;
};

/** Takes a DSN and returns its public form and host, or undefined if it is not a DSN. Host and port are for URL to judge. */
export function parseDsn(value: string): Dsn | undefined {
  const [, scheme, key, prefix, project] = DSN.exec(value) ?? [];
  const host = scheme && URL.parse(value)?.host;
  if (!host) return undefined;
  return {
    public: `${scheme}://${key}@${host}${prefix}/${project}`,
    host,
    envelopeUrl: `${scheme}://${host}${prefix}/api/${project}/envelope/`,
  };
}
