import { randomBytes } from "node:crypto";
import { failed, ok, type Result, unanswered, warning } from "./result.ts";

/** The start of these programs' trace ids, by which the proxy's log shows them. */
export const TRACE_PREFIX = "d0c70500";

/** Returns a trace that is not sampled (-0), so that the app's SDK records nothing. */
export const untraced = () => ({
  "sentry-trace": `${TRACE_PREFIX}${randomBytes(12).toString("hex")}-${randomBytes(8).toString("hex")}-0`,
});

/** Returns a probe envelope, which Sentry neither stores nor bills: a client report.
 * https://develop.sentry.dev/sdk/telemetry/client-reports/ */
export function probe(dsn: string) {
  const now = new Date();
  const header = { dsn, sent_at: now.toISOString(), sdk: { name: "culvert.doctor", version: "1" } };
  const item = { timestamp: now.getTime() / 1000, discarded_events: [] };
  const body = [header, { type: "client_report" }, item].map((line) => JSON.stringify(line)).join("\n");
  return { method: "POST", headers: { "Content-Type": "application/x-sentry-envelope" }, body };
}

/** Whether a text has the form of a DSN. */
export const isDsn = (text: string) => URL.canParse(text) && /^https?:\/\/\w+(:\w*)?@.+\/\d+$/.test(text);

/** Returns where the ingest of a DSN takes envelopes: https://develop.sentry.dev/sdk/foundations/envelopes/#authentication */
export function envelopeUrl(dsn: string): URL {
  const { origin, pathname } = new URL(dsn);
  return new URL(pathname.replace(/\d+$/, "api/$&/envelope/"), origin);
}

/** Returns the name of a DSN's ingest in messages. */
export const ingestName = (dsn: string) => new URL(dsn).host + dsn.replace(/.*\/(\d+)$/, " (project $1)");

/** What to do about the status of a probe envelope, sent to the ingest itself, or through the proxy. */
const key = "copy SENTRY_DSN again from the project's Client Keys page; is its key active?";
const fixes: Record<"ingest" | "proxy", Record<number, string>> = {
  ingest: {
    400: "if it speaks TLS there: https:// in SENTRY_DSN",
    401: key,
    403: key,
    404: `there is no such project, or another path prefix: ${key}`,
    413: "what is in front of the ingest limits bodies: raise it to 20 MB (Nginx: client_max_body_size)",
  },
  proxy: { 401: key, 403: key, 404: "is TUNNEL_PATH the deployment's?", 503: "neither ingest nor spool accepted it" },
};

/** Classifies the status of a probe envelope. `logs` shows the proxy's log, a redirect leads to `location`. */
export function answered(
  check: string,
  where: string,
  status: number,
  { logs = "docker compose logs proxy", location = "" } = {},
): Result {
  if (status === 200) return ok(check, `${where} accepted a probe envelope (SDK culvert.doctor)`);
  const found = `${where} answers ${status} to a probe envelope${location && ` (to ${location})`}`;
  if (status === 429) return warning(check, found, "rate limited: the project's quota, or TUNNEL_RATE_PER_CLIENT");
  if (check === "ingest") {
    const redirected = status < 400 ? "no redirect is followed: SENTRY_DSN must name where it leads" : undefined;
    return failed(check, found, redirected ?? fixes.ingest[status] ?? "the ingest's own log says why");
  }
  const fix = fixes.proxy[status] ?? `${logs}: its lines with "route":"tunnel"`;
  return failed(check, found, fix, unanswered(status, "proxy"));
}

/** There was no answer over an open connection. */
export const SILENT = "no answer";

const privateCa = "a private CA goes into INGEST_CA_FILE (Kubernetes: ingest-ca)";
const anotherCa = "INGEST_CA_FILE (ingest-ca) lacks the CA that issued it, or the ingest its chain";

/** Classifies the code with which the ingest did not answer: a system's, a certificate's, or SPEAKS_TLS. */
export function unreachable(host: string, why: string, caFile = ""): Result {
  const [certificate, silent] = [`${host}: ${readable(why)}`, `${host} does not answer (${why})`];
  const reasons: [code: RegExp, found: string, fix: string][] = [
    [/ENOTFOUND|EAI_/, `${host} does not resolve`, "check SENTRY_DSN and the DNS server"],
    [/ALTNAME/, `${host}: its certificate is for another name`, "name it in SENTRY_DSN as its certificate does"],
    [/CERT_HAS_EXPIRED/, certificate, "renew the ingest's certificate"],
    [/NOT_YET_VALID/, certificate, "set this machine's clock (NTP)"],
    [/WRONG_VERSION|EPROTO/, `${host} speaks no TLS at this port`, "http:// in SENTRY_DSN, or the port of its TLS"],
    [/SPEAKS_TLS/, `${host} speaks TLS at this port`, "https:// in SENTRY_DSN"],
    [new RegExp(SILENT), `${host} takes connections, and does not answer`, "the ingest hangs: its own log says why"],
    [/CERT|SIGNATURE/, certificate, caFile ? anotherCa : privateCa],
    [/REFUSED/, `${host} refuses connections`, "is the port in SENTRY_DSN the ingest's? The firewall?"],
    [/TIMEDOUT|UNREACH/, silent, "allow its address: firewall, NetworkPolicies"],
  ];
  const [, found = silent, fix = "check SENTRY_DSN and the firewall"] = reasons.find(([code]) => code.test(why)) ?? [];
  return failed("ingest", found, fix);
}

/** Returns a code of Node's certificate verification as text. */
export const readable = (code: string) => code.toLowerCase().replaceAll("_", " ");
