type Environment = Record<string, string | undefined>;

/** The options of a run; docs/benchmarks.md explains them. */
export const readOptions = (environment: Environment) => ({
  rounds: wholeNumber(environment, "ROUNDS", 3),
  seconds: wholeNumber(environment, "SECONDS", 3),
  attackSeconds: wholeNumber(environment, "ATTACK_S", 10),
  faultSeconds: wholeNumber(environment, "FAULT_S", 15),
});
export type Options = ReturnType<typeof readOptions>;

function wholeNumber(environment: Environment, name: string, fallback: number): number {
  const value = environment[name] || String(fallback);
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value);
  throw new Error(`${name} '${value}' is not a whole number of 1 or more: use ${fallback}, or leave it out`);
}

/** Returns the names that ONLY has, separated by spaces or commas, or else all. Throws for an unknown one. */
export function readChoice(environment: Environment, known: string[]): string[] {
  const wanted = (environment.ONLY ?? "").split(/[\s,]+/).filter(Boolean);
  const unknown = wanted.find((one) => !known.includes(one));
  if (unknown) throw new Error(`ONLY '${unknown}' is unknown: choose among ${known.join(", ")}`);
  return wanted.length ? wanted : known;
}
