import { isHost } from "./host";

const DSN =
  /^(https?):\/\/(\w+)(?::\w*)?@([^/@[\]:]+|\[[^/@[\]]+\])(?::([1-9]\d{0,4}))?((?:\/(?!\.\.?\/)[\w.-]+)*)\/(\d{1,20})$/;
const MAX_LENGTH = 1_000;

export type Dsn = {
  /** The DSN without the secret half of a legacy key: the only form that may reach a browser. */
  public: string;
  /** Host and port of the ingest, for people to read. */
  host: string;
  /** Where the ingest accepts envelopes. */
  envelopeUrl: string;
};

/**
 * Takes a DSN and returns its public form and host, or undefined if it is not a DSN. Rule: https://develop.sentry.dev/sdk/foundations/client/dsn/
 * All four parsers follow the vectors in deploy/test/vectors/dsn.json.
 */
export function parseDsn(value: string): Dsn | undefined {
  const [, scheme, key, name = "", port, prefix, project] = DSN.exec(value) ?? [];
  if (value.length > MAX_LENGTH || !isHost(name) || Number(port ?? 1) > 65_535) return undefined;
  const host = port ? `${name}:${port}` : name;
  return {
    public: `${scheme}://${key}@${host}${prefix}/${project}`,
    host,
    envelopeUrl: `${scheme}://${host}${prefix}/api/${project}/envelope/`,
  };
}
