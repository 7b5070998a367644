import { type Check, UNKNOWN } from "./check";
import { type Queue, queuedProblem } from "./messages";

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

/** Takes a function that fetches each replica's metrics; returns the state of the queue, unknown if one fails. Never throws. */
export async function checkSpoolMetrics(metrics: () => Promise<string[]>): Promise<SpoolCheck> {
  const queue = await metrics().then(
    (all) => queueIn(all.join("\n")),
    () => undefined,
  );
  if (!queue) return UNKNOWN;
  if (queue.queued === 0) return { ...UNKNOWN, state: "good", queue };
  return { ...UNKNOWN, state: "bad", problem: queuedProblem(queue), queue };
}
