const DSN =
  /^(?<scheme>https?):\/\/(?<key>\w+)(?::\w*)?@(?<host>(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?)(?<prefix>(?:\/[\w.-]+)*)\/(?<project>\d+)$/;

export type Dsn = {
  /** The DSN without the secret half of a legacy key: the only form that may reach a browser. */
  public: string;
  /** Host and port of the ingest, for people to read. */
  host: string;
  /** Where the ingest takes envelopes. */
  envelopeUrl: string;
};

/**
 * Takes a DSN and returns its public form and host, or undefined when it is none.
 * Rule: https://develop.sentry.dev/sdk/foundations/client/dsn/
 */
export function parseDsn(value: string): Dsn | undefined {
  const parts = DSN.exec(value)?.groups;
  if (!parts) return undefined;
  const { scheme, key, host = "", prefix, project } = parts;
  return {
    public: `${scheme}://${key}@${host}${prefix}/${project}`,
    host,
    envelopeUrl: `${scheme}://${host}${prefix}/api/${project}/envelope/`,
  };
}
