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
