import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import { exchange, openTls } from "../http.ts";
import { answered, envelopeUrl, ingestName, probe, unreachable } from "../ingest.ts";
import { sum } from "../metrics.ts";
import { errorText, failed, ok, type Result, warning } from "../result.ts";
import type { Facts } from "./facts.ts";

/** Clients send invalid envelopes, too. */
const MAX_BAD = 10;
const MAX_BAD_SHARE = 0.01;
/** What ends when the ingest accepts envelopes again. */
const ofIngest = { follows: ["ingest"] };
/** Longer than a short outage. */
const MAX_WAIT_S = 300;

/** Sends a probe envelope to the ingest of a DSN, as the spool does. `caFile` is a private CA's. */
export async function ingest(dsn: string, caFile = ""): Promise<Result[]> {
  const { protocol, hostname, port, pathname: path } = envelopeUrl(dsn);
  const ca = caFile ? readFileSync(caFile, "utf8") : rootCertificates.join("\n");
  const options = { protocol, host: hostname.replace(/^\[|\]$/g, ""), port, path, ca };
  const answer = await exchange(options, probe(dsn)).catch(errorText);
  if (typeof answer === "string") {
    const speaksTls = protocol === "http:" && (await opensTls(options.host, Number(port || 80)));
    return [unreachable(hostname, speaksTls ? "SPEAKS_TLS" : answer, caFile)];
  }
  return [answered("ingest", ingestName(dsn), answer.status, { location: answer.headers.location })];
}

const opensTls = async (host: string, port: number) => {
  const socket = await openTls({ host, port, name: host }).catch(() => undefined);
  return Boolean(socket?.destroy());
};

/** Sends a probe envelope as web does, to the proxy's inner listener. */
export async function serverTunnel(address: string, dsn: string): Promise<Result[]> {
  const { hostname: host, port, pathname: path } = new URL(address);
  const { status, headers } = await exchange({ host, port, path }, probe(dsn));
  if (status !== 200 || headers["x-envelope-outcome"] !== "queued") return [answered("server tunnel", address, status)];
  const fix = 'docker compose logs proxy: its lines with "route":"tunnel"';
  return [failed("server tunnel", "the spool queued a probe envelope", fix)];
}

/** Checks how the envelopes of the last five minutes ended. */
export function envelopes(log: Facts["log"]): Result[] {
  const all = log.filter(({ outcome }) => outcome);
  const bad = all.filter(({ outcome = "" }) => ["failed", "rejected"].includes(outcome));
  const found = `${bad.length} of ${all.length} failed or were rejected in the last five minutes`;
  if (bad.length <= Math.max(MAX_BAD, all.length * MAX_BAD_SHARE)) return [ok("envelopes", found)];
  const reasons = [...new Set(bad.map(({ reason = "" }) => reason))];
  const fix = `reasons: ${reasons.join(", ")}; see "Troubleshooting" in docs/operations.md`;
  const isOfIngest = reasons.every((reason) => /^(?:ingest_status_\d+|unreachable)$/.test(reason));
  return [failed("envelopes", found, fix, isOfIngest ? ofIngest : undefined)];
}

/** Checks the spool's queue and disk by its metrics. */
export function spool(metrics: string): Result[] {
  const of = (name: string) => sum(metrics, `culvert_spool_${name}`);
  const [queued, undeliverable] = [of("queued_envelopes"), of("undeliverable_envelopes")];
  const age = of("oldest_envelope_age_seconds");
  const full = of("disk_bytes") / of("limit_bytes");
  if (metrics.includes("culvert_spool_disk_free_bytes ") && of("disk_free_bytes") === 0)
    return [failed("spool", "its disk is full", "free space: docker system df shows its use")];
  if (undeliverable > 0) {
    const found = `${undeliverable} envelopes wait for an ingest that is in no DSN`;
    return [failed("spool", found, "add its DSN to TUNNEL_ALLOWED_DSNS until they are delivered")];
  }
  if (queued === 0) return [ok("spool", "its queue is empty")];
  const found = `${queued} envelopes wait, the oldest for ${Math.round(age / 60)} min, ${Math.round(full * 100)} % full`;
  const fix = "they are delivered when the ingest is back: see its line";
  return [(age > MAX_WAIT_S || full > 0.8 ? failed : warning)("spool", found, fix, ofIngest)];
}
