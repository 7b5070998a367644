/** The value below which `share` of the values lie (nearest rank); NaN if there are none. */
export const percentile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? Number.NaN;

/** The median: the mean of the middle two for an even number; NaN if there are none. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (rank: number) => sorted[rank] ?? Number.NaN;
  return (at(Math.floor(sorted.length / 2)) + at(Math.ceil(sorted.length / 2) - 1)) / 2;
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
