/** The options of a run, all whole numbers. */
export interface Options {
  /** How often each contender is measured; every figure is the median of these. */
  rounds: number;
  /** Length of one measurement, in seconds. */
  seconds: number;
  /** Connections that post envelopes concurrently. */
  connections: number;
  /** Page requests per second where latency is measured: well below the app's capacity. */
  pageRate: number;
  /** Envelopes per second of the flood, and the rate limit of the flooded proxy. */
  floodRate: number;
  /** How long the pages that a shedding proxy lets in take to render, in milliseconds. */
  openMilliseconds: number;
  /** The longest that a measurement waits for the machine to become idle. */
  idleTimeoutSeconds: number;
}

const settings: Record<keyof Options, { name: string; fallback: number }> = {
  rounds: { name: "ROUNDS", fallback: 5 },
  seconds: { name: "SECONDS", fallback: 2 },
  connections: { name: "CONNECTIONS", fallback: 32 },
  pageRate: { name: "PAGE_RATE", fallback: 40 },
  floodRate: { name: "FLOOD_RATE", fallback: 2000 },
  openMilliseconds: { name: "OPEN_MS", fallback: 300 },
  idleTimeoutSeconds: { name: "IDLE_TIMEOUT_S", fallback: 0 },
};

/** Takes the environment, returns the options; throws a one-line error that names an invalid one. */
export function readOptions(environment: Record<string, string | undefined>): Options {
  if (environment.PATIENCE) throw new Error("PATIENCE is no longer an option: use IDLE_TIMEOUT_S");
  const read = (key: keyof Options) => wholeNumber(environment, settings[key].name, settings[key].fallback);
  return {
    rounds: read("rounds"),
    seconds: read("seconds"),
    connections: read("connections"),
    pageRate: read("pageRate"),
    floodRate: read("floodRate"),
    openMilliseconds: read("openMilliseconds"),
    idleTimeoutSeconds: read("idleTimeoutSeconds"),
  };
}

/** The whole number that a variable of the environment has; throws a one-line error that names an invalid one. */
export function wholeNumber(environment: Record<string, string | undefined>, name: string, fallback: number): number {
  const value = environment[name] || String(fallback);
  const min = Math.min(1, fallback);
  if (!/^\d{1,6}$/.test(value) || Number(value) < min)
    throw new Error(`${name} '${value}' is not a whole number of ${min} or more: use ${fallback}, or leave it out`);
  return Number(value);
}

/** Takes the environment, returns the comparisons that ONLY names (separated by spaces or commas), else all; throws for an unknown one. */
export function readChoice(environment: Record<string, string | undefined>, known: string[]): string[] {
  const wanted = (environment.ONLY ?? "").split(/[\s,]+/).filter(Boolean);
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown) throw new Error(`ONLY '${unknown}' is not a comparison: choose among ${known.join(", ")}`);
  return wanted.length ? wanted : known;
}
