import { type Check, UNKNOWN } from "./check";
import { waitingWords } from "./messages";

/** What the spool holds: how many reports, and for how many seconds the oldest has been there. */
export type Waiting = { reports: number; oldestS: number };

/**
 * Takes the spool's metrics and returns what waits there. The SDK's reports about itself (category `internal`) are not
 * counted: the console's own looks at the ingest are some of them.
 */
export function waitingIn(metrics: string): Waiting {
  const values = [...metrics.matchAll(/^culvert_spool_queued_envelopes\{category="(\w+)"\} (\d+)$/gm)]
    .filter(([, category]) => category !== "internal")
    .map(([, , count]) => Number(count));
  const oldest = /^culvert_spool_oldest_envelope_age_seconds ([\d.]+)$/m.exec(metrics)?.[1];
  return { reports: values.reduce((sum, count) => sum + count, 0), oldestS: Number(oldest ?? 0) };
}

/** Takes a way to get the spool's metrics; returns what is to be said of them. Never throws: who has no answer says nothing. */
export async function lookAtSpool(metrics: () => Promise<string>): Promise<Check> {
  const waiting = await metrics().then(waitingIn, () => undefined);
  if (!waiting) return UNKNOWN;
  if (waiting.reports === 0) return { ...UNKNOWN, state: "good" };
  return { ...UNKNOWN, state: "bad", problem: waitingWords(waiting) };
}
