import { outcome } from "./arrivals.ts";
import type { LoadResult } from "./load.ts";
import { isEmpty } from "./metrics.ts";
import type { Stack } from "./stack.ts";
import { waitUntil } from "./wait.ts";

/** Envelopes per second during a fault. */
export const rate = 100;

/** How long an outage lasts, and each of the other faults. */
export const outageSeconds = Number(process.env.OUTAGE_S ?? 20);
export const faultSeconds = Number(process.env.FAULT_S ?? 3);

/**
 * Waits until the spool is empty, for at most two minutes after `recoveredAt` (by default after now). Prints and returns how many
 * envelopes were lost and repeated.
 */
export async function printResult(
  stack: Pick<Stack, "recorder" | "url">,
  fault: string,
  { ids, retries, pages }: LoadResult,
  recoveredAt?: number,
): Promise<{ lost: number; repeated: number }> {
  const start = recoveredAt ?? Date.now();
  await waitUntil(() => isEmpty(stack), start + 600_000 - Date.now());
  const result = await outcome(stack, ids);
  const drained = Math.round((Date.now() - start) / 1_000);
  console.log(
    `${fault}: sent ${ids.length}, retries ${JSON.stringify(retries)}, lost ${result.lost}, repeated ${result.repeated}, ` +
      `empty ${drained} s after ${recoveredAt ? "the ingest came back" : "the load ended"}, ` +
      `pages ${pages.requested}, failed ${JSON.stringify(pages.failed)}`,
  );
  return result;
}
