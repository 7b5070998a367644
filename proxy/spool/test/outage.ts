import { type Ends, isEmpty, outcome } from "./report.ts";
import { until } from "./stack.ts";
import type { Visits } from "./visitors.ts";

/** Reports a second that visitors send while something is wrong. */
export const rate = 200;

/** How long an outage lasts, and how long each of an ingest's moods. */
export const outageSeconds = Number(process.env.OUTAGE_S ?? 60);
export const moodSeconds = Number(process.env.MOOD_S ?? 3);

/** Waits for what is left, two minutes at most since the ingest was `back`, or since now, and prints a row: sent, lost, repeated. */
export async function row(
  stack: Ends,
  fault: string,
  visits: Visits,
  back?: number,
): Promise<{ lost: number; repeated: number }> {
  const began = back ?? Date.now();
  await until(() => isEmpty(stack), began + 120_000 - Date.now());
  const result = await outcome(stack, visits.ids);
  const drained = Math.round((Date.now() - began) / 1_000);
  const { seen, failed } = visits.pages;
  console.log(
    `${fault}: sent ${visits.ids.length}, offered again ${JSON.stringify(visits.again)}, lost ${result.lost}, repeated ${result.repeated}, ` +
      `empty ${drained} s after the ${back ? "ingest's return" : "load's end"}, pages ${seen}, failed ${JSON.stringify(failed)}`,
  );
  return result;
}
