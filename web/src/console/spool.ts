import { type Check, UNKNOWN } from "./check";
import { queuedProblem } from "./messages";

/** The number of envelopes in the spool, and the age of the oldest in seconds. */
export type Queued = { envelopes: number; oldestS: number };

/**
 * Takes the spool's metrics and returns what it queues. Client reports (category `internal`) are not counted, because the
 * console's own probes of the ingest are among them.
 */
export function queuedIn(metrics: string): Queued {
  const values = [...metrics.matchAll(/^culvert_spool_queued_envelopes\{category="(\w+)"\} (\d+)$/gm)]
    .filter(([, category]) => category !== "internal")
    .map(([, , count]) => Number(count));
  const oldest = /^culvert_spool_oldest_envelope_age_seconds ([\d.]+)$/m.exec(metrics)?.[1];
  return { envelopes: values.reduce((sum, count) => sum + count, 0), oldestS: Number(oldest ?? 0) };
}

/** Takes a function that fetches the spool's metrics; returns the state of the queue, unknown if that fails. Never throws. */
export async function checkSpoolMetrics(metrics: () => Promise<string>): Promise<Check> {
  const queued = await metrics().then(queuedIn, () => undefined);
  if (!queued) return UNKNOWN;
  if (queued.envelopes === 0) return { ...UNKNOWN, state: "good" };
  return { ...UNKNOWN, state: "bad", problem: queuedProblem(queued) };
}
