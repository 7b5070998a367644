/** The value below which `share` of the values lie (nearest rank); NaN if there are none. */
export const percentile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? Number.NaN;

export const median = (values: number[]): number => percentile(values, 0.5);

/** Measures in turn, A B C, C B A, A B C …, so that a machine that becomes slower or faster favours no contender. */
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
