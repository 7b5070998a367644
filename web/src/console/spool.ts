import { type Check, UNKNOWN } from "./check";
import { type Queue, queuedProblem, SPOOL_PROBLEM } from "./messages";

/** Without `queue`, the spool did not respond. */
export type SpoolCheck = Check & { queue?: Queue };

/**
 * Takes the metrics of all replicas and returns the state of their queues together. Client reports (category `internal`) are not counted, because the
 * console's own probes of the ingest are among them.
 */
function queueIn(metrics: string): Queue {
  const sum = (name: string) =>
    [...metrics.matchAll(new RegExp(`^culvert_spool_${name}\\{category="(\\w+)"\\} (\\d+)$`, "gm"))]
      .filter(([, category]) => category !== "internal")
      .reduce((all, [, , count]) => all + Number(count), 0);
  const queued = sum("queued_envelopes");
  const ages = metrics.match(/(?<=^culvert_spool_oldest_envelope_age_seconds )[\d.]+$/gm)?.map(Number) ?? [];
  return { queued, oldestS: queued > 0 ? Math.max(...ages) : 0, delivered: sum("delivered_total") };
}

/** Takes a function that fetches each replica's metrics; returns whether all respond, and what they queue. Never throws. */
export async function checkSpoolMetrics(metrics: () => Promise<string[]>): Promise<SpoolCheck> {
  const queue = await metrics().then(
    (all) => queueIn(all.join("\n")),
    () => undefined,
  );
  if (!queue) return { ...UNKNOWN, state: "bad", problem: SPOOL_PROBLEM };
  return { ...UNKNOWN, state: "good", problem: queue.queued > 0 ? queuedProblem(queue) : undefined, queue };
}
