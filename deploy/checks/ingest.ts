import { randomBytes } from "node:crypto";
import { failed, ok, type Result, warning } from "./result.ts";

/** The start of these programs' trace ids: the proxy's log shows their requests by it. */
export const TRACE_PREFIX = "d0c70500";

/** Returns a trace that is not sampled (-0): Sentry's SDK in the app records nothing of the request. */
export const untraced = () => ({
  "sentry-trace": `${TRACE_PREFIX}${randomBytes(12).toString("hex")}-${randomBytes(8).toString("hex")}-0`,
});

/** Returns a probe envelope for a DSN, which Sentry neither stores nor bills: a client report of no discarded events.
 * https://develop.sentry.dev/sdk/telemetry/client-reports/ */
export function probe(dsn: string) {
  const now = new Date();
  const header = { dsn, sent_at: now.toISOString(), sdk: { name: "culvert.doctor", version: "1" } };
  const item = { timestamp: now.getTime() / 1000, discarded_events: [] };
  const body = [header, { type: "client_report" }, item].map((line) => JSON.stringify(line)).join("\n");
  return { method: "POST", headers: { "Content-Type": "application/x-sentry-envelope" }, body };
}

/** Returns where the ingest takes the envelopes of a valid DSN: https://develop.sentry.dev/sdk/foundations/envelopes/#authentication */
export function envelopeUrl(dsn: string): URL {
  const { origin, pathname } = new URL(dsn);
  return new URL(pathname.replace(/\d+$/, "api/$&/envelope/"), origin);
}

/** What to do about the status of a probe envelope that was sent to the ingest itself, or through the proxy. */
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
  if (status === 200) return ok(check, `${where} accepted a probe envelope`);
  const found = `${where} answers ${status} to a probe envelope${location && ` (to ${location})`}`;
  if (status === 429) return warning(check, found, "rate limited: the project's quota, or TUNNEL_RATE_PER_CLIENT");
  if (check === "ingest") {
    const redirected = status < 400 ? "no redirect is followed: SENTRY_DSN must name where it leads" : undefined;
    return failed(check, found, redirected ?? fixes.ingest[status] ?? "the ingest's own log says why");
  }
  return failed(check, found, fixes.proxy[status] ?? `${logs}: its lines with "route":"tunnel"`);
}

/** Why there was no answer over a connection that was open. */
export const SILENT = "no answer";

const privateCa = "a private CA goes into INGEST_CA_FILE (Kubernetes: ingest-ca)";
const anotherCa = "INGEST_CA_FILE (ingest-ca) lacks the CA that issued it, or the ingest its chain";

/** Classifies why the ingest did not answer: a system error's code, that of a certificate, or SPEAKS_TLS. `caFile` is a private CA's. */
export function unreachable(host: string, why: string, caFile = ""): Result {
  const [certificate, silent] = [`${host}: ${words(why)}`, `${host} does not answer (${why})`];
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
    [/TIMEDOUT|timed out|UNREACH/, silent, "allow its address: firewall, NetworkPolicies"],
  ];
  const [, found = silent, fix = "check SENTRY_DSN and the firewall"] = reasons.find(([code]) => code.test(why)) ?? [];
  return failed("ingest", found, fix);
}

/** Returns a code of Node's certificate verification in words: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
export const words = (code: string) => code.toLowerCase().replaceAll("_", " ");
