/** What a look at one hop of the request path found. */
export type Check = {
  state: "good" | "bad" | "unknown";
  latencyMs: number | undefined;
  /** What is wrong and what to do, in words; undefined when nothing is. */
  problem: string | undefined;
};

export const UNKNOWN: Check = { state: "unknown", latencyMs: undefined, problem: undefined };

/**
 * Takes a way to ask a hop, and words for a status and for a failure to ask; returns what it found and how long that took.
 * Words that are undefined mean that all is well. Never throws.
 */
export async function look(
  ask: () => Promise<{ status: number }>,
  wordsFor: (status: number) => string | undefined,
  wordsForFailure: (error: unknown) => string,
): Promise<Check> {
  const started = performance.now();
  const outcome = await ask().then(
    ({ status }) => wordsFor(status),
    (error: unknown) => wordsForFailure(error),
  );
  const latencyMs = Math.round((performance.now() - started) * 10) / 10;
  return { state: outcome ? "bad" : "good", latencyMs, problem: outcome };
}
