import { parseDsn as parseParts } from "./dsn-parts.js";

export type Dsn = {
  /** The DSN without the secret half of a legacy key: the only form that may reach a browser. */
  public: string;
  /** Host and port of the ingest, for people to read. */
  host: string;
  /** Where the ingest accepts envelopes. */
  envelopeUrl: string;
};

/** Takes a DSN and returns its public form and host, or undefined if it is not a DSN. */
export function parseDsn(value: string): Dsn | undefined {
  const parts = parseParts(value);
  if (!parts) return undefined;
  const { scheme, key, prefix, project } = parts;
  const host = parts.port ? `${parts.host}:${parts.port}` : parts.host;
  return {
    public: `${scheme}://${key}@${host}${prefix}/${project}`,
    host,
    envelopeUrl: `${scheme}://${host}${prefix}/api/${project}/envelope/`,
  };
}
