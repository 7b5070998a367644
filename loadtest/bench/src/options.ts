type Environment = Record<string, string | undefined>;

/** The options of a run. */
export const readOptions = (environment: Environment) => ({
  /** How often each contender is measured. Every figure is the median of these. */
  rounds: wholeNumber(environment, "ROUNDS", 5),
  /** Length of one measurement. */
  seconds: wholeNumber(environment, "SECONDS", 2),
  /** Connections that post envelopes. */
  connections: wholeNumber(environment, "CONNECTIONS", 32),
  /** Page requests per second where latency is measured, well below the app's capacity. */
  pageRate: wholeNumber(environment, "PAGE_RATE", 40),
  /** How long the pages that a shedding proxy lets in take to render. */
  openMilliseconds: wholeNumber(environment, "OPEN_MS", 300),
});
export type Options = ReturnType<typeof readOptions>;

/** Returns the variable's whole number. Throws a one-line error that names an invalid one. */
export function wholeNumber(environment: Environment, name: string, fallback: number): number {
  const value = environment[name] || String(fallback);
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value);
  throw new Error(`${name} '${value}' is not a whole number of 1 or more: use ${fallback}, or leave it out`);
}

/** Returns the names that ONLY has, separated by spaces or commas, or else all. Throws for an unknown one. */
export function readChoice(environment: Environment, known: string[]): string[] {
  const wanted = (environment.ONLY ?? "").split(/[\s,]+/).filter(Boolean);
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown) throw new Error(`ONLY '${unknown}' is unknown: choose among ${known.join(", ")}`);
  return wanted.length ? wanted : known;
}
