/** The state of one hop of the request path. */
export type Check = {
  state: "good" | "bad" | "unknown";
  latencyMs: number | undefined;
  /** For people: what is wrong and how to fix it; undefined if nothing is wrong. */
  problem: string | undefined;
  /** No response came at all: what stands before the hop may be down. */
  unreachable?: true;
};

export const UNKNOWN: Check = { state: "unknown", latencyMs: undefined, problem: undefined };

/**
 * Takes a request to a hop, and functions that return the problem for a status or for a failed request, undefined without one.
 * Returns the state of the hop and its latency. Never throws.
 */
export async function runCheck(
  request: () => Promise<{ status: number }>,
  problemOf: (status: number) => string | undefined,
  problemOfFailure: (error: unknown) => string,
): Promise<Check> {
  const started = performance.now();
  const found = await request().then(
    ({ status }) => ({ problem: problemOf(status) }),
    (error: unknown) => ({ problem: problemOfFailure(error), unreachable: true as const }),
  );
  const latencyMs = Math.round((performance.now() - started) * 10) / 10;
  return { state: found.problem ? "bad" : "good", latencyMs, ...found };
}
