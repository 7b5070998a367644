import { statfsSync } from "node:fs";
import { group, type LogLine } from "../facts.ts";
import { TRACE_PREFIX } from "../http.ts";
import { duration, type Sample, sum } from "../metrics.ts";
import { failed, ok, type Result, unknown } from "../result.ts";
import { isLocal } from "./certificate.ts";

/** Clients send invalid envelopes, too, and the doctor itself sends one envelope that must be rejected. */
const MAX_BAD = 10;
const MAX_BAD_SHARE = 0.01;
/** Fewer requests say nothing about where clients come from. */
const MIN_REQUESTS = 20;
/** Longer than a short outage. */
const MAX_WAIT_S = 300;
const privateAddress = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|127\.|f[cd]|fe80:)/;

/** Returns how many envelopes ended how, such as "12 accepted, 1 queued". */
export function outcomes(log: LogLine[]): string {
  const groups = group(
    log.filter(({ outcome }) => outcome),
    ({ outcome = "" }) => outcome,
  );
  return [...groups]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([outcome, lines]) => `${lines.length} ${outcome}`)
    .join(", ");
}

/** Checks how the envelopes of the last five minutes ended. */
export function envelopes(log: LogLine[]): Result[] {
  const all = log.filter(({ outcome }) => outcome);
  if (all.length === 0) return [unknown("envelopes", "none in the last five minutes")];
  const found = `last five minutes: ${outcomes(log)}`;
  const bad = all.filter(({ outcome }) => outcome === "failed" || outcome === "rejected");
  if (bad.length === 0) return [ok("envelopes", found)];
  const reasons = [...new Set(bad.map(({ reason }) => reason || "none"))].join(", ");
  const own = reasons === "arguments" ? " (each run of the doctor sends one)" : "";
  const fix = `reasons: ${reasons}${own}; see "Troubleshooting" in docs/operations.md`;
  return [
    bad.length > Math.max(MAX_BAD, all.length * MAX_BAD_SHARE)
      ? failed("envelopes", found, fix)
      : unknown("envelopes", found, fix),
  ];
}

/** Tells of WebSocket handshakes outside WEBSOCKET_PATH: of the app itself, or of a scanner. */
export function upgrades(log: LogLine[]): Result[] {
  const refused = group(
    log.filter(({ reason }) => reason === "upgrade_refused"),
    ({ path = "" }) => path,
  );
  const [most] = [...refused].sort((a, b) => b[1].length - a[1].length);
  if (!most) return [];
  return [
    unknown(
      "websocket",
      `last five minutes: the proxy refused ${most[1].length} handshakes at ${most[0]}`,
      "if the app has a WebSocket there, set WEBSOCKET_PATH to that path",
    ),
  ];
}

/** Checks that no load balancer stands for all clients. Requests of this program and of other containers do not count. */
export function clients(log: LogLine[], settings: Record<string, string>, gateways: string[]): Result[] {
  const requests = log.filter(
    ({ outcome, client, trace_id = "" }) => !outcome && client && !trace_id.startsWith(TRACE_PREFIX),
  );
  const isContainer = (address = "") =>
    gateways.some((one) => address !== one && address.startsWith(one.replace(/\d+$/, "")));
  const addresses = requests.map(({ client }) => client ?? "").filter((address) => !isContainer(address));
  const different = [...new Set(addresses)];
  if (
    settings.TUNNEL_CLIENT_IP === "withhold" ||
    addresses.length < MIN_REQUESTS ||
    isLocal(settings.SERVER_NAME || "localhost")
  )
    return [];
  if (different.length <= 2 && different.every((one) => privateAddress.test(one)) && !settings.TRUSTED_PROXIES)
    return [
      failed(
        "client IP",
        `all ${addresses.length} requests of the last five minutes seem to come from ${different.join(" and ")}`,
        "name the load balancer in front in TRUSTED_PROXIES",
      ),
    ];
  return [ok("client IP", `${different.length} clients in the last five minutes`)];
}

/** Checks what waits in the spool, since when, and how full it and its disk are. */
export function spool(samples: Sample[]): Result[] {
  const of = (name: string) => sum(samples, `culvert_spool_${name}`);
  const [queued, age] = [of("queued_envelopes"), of("oldest_envelope_age_seconds")];
  const full = of("disk_bytes") / of("limit_bytes");
  const results: Result[] = [];
  if (of("undeliverable_envelopes") > 0)
    results.push(
      failed(
        "spool",
        `${of("undeliverable_envelopes")} envelopes are queued for an ingest that is in no configured DSN`,
        "add its DSN to TUNNEL_ALLOWED_DSNS until they are delivered",
      ),
    );
  if (of("lost_total") > 0)
    results.push(
      unknown(
        "spool",
        `${of("lost_total")} accepted envelopes were gone after a start`,
        "was the volume removed or restored?",
      ),
    );
  if (samples.some(({ name }) => name === "culvert_spool_disk_free_bytes") && of("disk_free_bytes") === 0)
    results.push(failed("spool", "its disk is full", "free space: docker system df says what takes it"));
  if (queued === 0) return [ok("spool", "empty"), ...results];
  const found = `${queued} envelopes queued, the oldest for ${duration(age)}, ${Math.round(full * 100)} % full`;
  const fix = "they are delivered when the ingest is back: see the line on the ingest";
  return [age > MAX_WAIT_S || full > 0.8 ? failed("spool", found, fix) : unknown("spool", found, fix), ...results];
}

/** Checks the disk that holds the engine's data, as a container sees it: the spool, stored files, and an image that is built grow. */
export function disk(stat: { bavail: number; blocks: number; bsize: number } = statfsSync("/")): Result[] {
  const free = stat.bavail * stat.bsize;
  const found = `${(free / 1e9).toFixed(1)} GB free`;
  if (free >= 2e9 && stat.bavail / stat.blocks >= 0.05) return [ok("disk", found)];
  return [failed("disk", found, "free some: docker system df says what takes it")];
}
