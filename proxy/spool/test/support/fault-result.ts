import { outcome } from "./arrivals.ts";
import type { LoadResult } from "./load.ts";
import { isEmpty } from "./metrics.ts";
import type { Stack } from "./stack.ts";
import { waitUntil } from "./wait.ts";

/** Envelopes per second during a fault. */
export const rate = 100;

/** Waits until the spool is empty. Prints and returns how many envelopes were lost and repeated. */
export async function printResult(
  stack: Pick<Stack, "recorder" | "url">,
  fault: string,
  { ids, retries, pages }: LoadResult,
): Promise<{ lost: number; repeated: number }> {
  await waitUntil(() => isEmpty(stack), 600_000);
  const result = await outcome(stack, ids);
  console.log(`${fault}:`, JSON.stringify({ sent: ids.length, ...result, retries, pages }));
  return result;
}
