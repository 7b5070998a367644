import { duration, type Sample, sum } from "../metrics.ts";
import { failed, ok, type Result, unknown } from "../result.ts";

const CHECK = "spool";

/** Longer than a short outage. */
const MAX_WAIT_S = 300;

/** Takes the spool's metrics and SPOOL_MAX_MB, and checks what waits there, since when, and how full it is. */
export function spool(samples: Sample[], maxMb: number): Result[] {
  const queued = sum(samples, "culvert_spool_queued_envelopes");
  const age = sum(samples, "culvert_spool_oldest_envelope_age_seconds");
  const full = sum(samples, "culvert_spool_disk_bytes") / (maxMb * 2 ** 20);
  const undeliverable = sum(samples, "culvert_spool_undeliverable_envelopes");
  const lost = sum(samples, "culvert_spool_lost_total");
  const results: Result[] = [];
  if (undeliverable > 0)
    results.push(
      failed(
        CHECK,
        `${undeliverable} envelopes are queued for an ingest that is in no configured DSN`,
        "add its DSN to TUNNEL_ALLOWED_DSNS until they are delivered",
      ),
    );
  if (lost > 0)
    results.push(
      unknown(CHECK, `${lost} accepted envelopes were gone after a start`, "was the volume removed or restored?"),
    );
  if (queued === 0) return [ok(CHECK, "empty"), ...results];
  const found = `${queued} envelopes queued, the oldest for ${duration(age)}, ${Math.round(full * 100)} % full`;
  const fix = "they are delivered when the ingest is back: see the line on the ingest";
  return [age > MAX_WAIT_S || full > 0.9 ? failed(CHECK, found, fix) : unknown(CHECK, found, fix), ...results];
}
