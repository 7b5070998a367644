/** The value below which `share` of the values lie (nearest rank); throws if there are none. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new Error("no values to take a percentile of");
  return value;
}

/** The median: the mean of the middle two for an even number. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error("no values to take a median of");
  return (lower + upper) / 2;
}

/** Divides round by round: other work on the machine affects both in a round and cancels out, unlike in a ratio of two medians. */
export const ratio = (of: number[], by: number[]): number =>
  median(of.map((value, round) => value / (by[round] ?? Number.NaN)));

/**
 * Measures the contenders in turn, `rounds` times: A B C, C B A, A B C … so that a machine that becomes slower or faster
 * during a round favours no contender. Returns each contender's samples in order of rounds.
 */
export async function inTurn<Name extends string, Sample>(
  rounds: number,
  contenders: Record<Name, () => Promise<Sample>>,
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(contenders) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Sample[]>;
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 ? names.toReversed() : names) samples[name].push(await contenders[name]());
  return samples;
}
