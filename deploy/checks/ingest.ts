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
  },
  proxy: { 401: key, 403: key, 404: "is TUNNEL_PATH the deployment's?", 503: "neither ingest nor spool accepted it" },
};

/** Classifies the status of a probe envelope. `logs` is the command that shows the proxy's log. */
export function answered(check: string, where: string, status: number, logs = "docker compose logs proxy"): Result {
  if (status === 200) return ok(check, `${where} accepted a probe envelope`);
  const found = `${where} answers ${status} to a probe envelope`;
  if (status === 429) return warning(check, found, "rate limited: the project's quota, or TUNNEL_RATE_PER_CLIENT");
  if (check === "ingest" && status >= 500) return failed(check, found, "the ingest fails: its own log says why");
  const fix = fixes[check === "ingest" ? "ingest" : "proxy"][status] ?? `${logs}: its lines with "route":"tunnel"`;
  return failed(check, found, fix);
}

/** Why there was no answer over a connection that was open. */
export const SILENT = "no answer";

/** Classifies why the ingest did not answer: a system error's code, or that of a certificate. */
export function unreachable(host: string, why: string): Result {
  if (/ENOTFOUND|EAI_/.test(why))
    return failed("ingest", `${host} does not resolve`, "check SENTRY_DSN and the DNS server");
  if (/ALTNAME/.test(why)) {
    const fix = "name it in SENTRY_DSN as its certificate does, or give it a certificate for this name";
    return failed("ingest", `${host}: its certificate is for another name`, fix);
  }
  if (/CERT_HAS_EXPIRED/.test(why)) return failed("ingest", `${host}: ${words(why)}`, "renew the ingest's certificate");
  if (/NOT_YET_VALID/.test(why)) return failed("ingest", `${host}: ${words(why)}`, "set this machine's clock (NTP)");
  if (/WRONG_VERSION|EPROTO/.test(why)) {
    const fix = "http:// in SENTRY_DSN, or the port of its TLS";
    return failed("ingest", `${host} speaks no TLS at this port`, fix);
  }
  if (why === SILENT)
    return failed("ingest", `${host} takes connections, and does not answer`, "the ingest hangs: its own log says why");
  if (/CERT|SIGNATURE/.test(why))
    return failed("ingest", `${host}: ${words(why)}`, "a private CA goes into INGEST_CA_FILE (Kubernetes: ingest-ca)");
  const blocked = "allow its address in the firewall, or in the NetworkPolicies of proxy and spool";
  if (/REFUSED/.test(why))
    return failed("ingest", `${host} refuses connections`, "is the port in SENTRY_DSN the ingest's? The firewall?");
  const fix = /TIMEDOUT|timed out|UNREACH/.test(why) ? blocked : "check SENTRY_DSN and the firewall";
  return failed("ingest", `${host} does not answer (${why})`, fix);
}

/** Returns a code of Node's certificate verification in words: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
export const words = (code: string) => code.toLowerCase().replaceAll("_", " ");
