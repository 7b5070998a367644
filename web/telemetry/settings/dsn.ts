import { parseDsn as parseParts } from "./dsn-parts.js";

export type Dsn = NonNullable<ReturnType<typeof parseDsn>>;

/** Takes a DSN and returns what is needed of it, or undefined if it is not a DSN. */
export function parseDsn(value: string) {
  const parts = parseParts(value);
  if (!parts) return undefined;
  const { scheme, key, prefix, project } = parts;
  const host = parts.port ? `${parts.host}:${parts.port}` : parts.host;
  return {
    /** The DSN without the secret half of a legacy key: the only form that may reach a browser. */
    public: `${scheme}://${key}@${host}${prefix}/${project}`,
    /** Host and port of the ingest, for people to read. */
    host,
    /** Where the ingest accepts envelopes. */
    envelopeUrl: `${scheme}://${host}${prefix}/api/${project}/envelope/`,
  };
}
