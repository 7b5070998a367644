/** What a run may change, all whole numbers. */
export interface Knobs {
  /** How often each contender is measured; every figure is the median of so many. */
  rounds: number;
  /** Length of one measurement, in seconds. */
  seconds: number;
  /** Connections that post reports at the same time. */
  connections: number;
  /** Page views per second while latency is looked at: well below what the app can do. */
  pageRate: number;
  /** Reports per second of the steady flood, and the limit that the flooded edge is given. */
  floodRate: number;
  /** For how many seconds a measurement waits for a quiet machine. */
  patience: number;
}

const settings: Record<keyof Knobs, { name: string; standard: number }> = {
  rounds: { name: "ROUNDS", standard: 5 },
  seconds: { name: "SECONDS", standard: 2 },
  connections: { name: "CONNECTIONS", standard: 32 },
  pageRate: { name: "PAGE_RATE", standard: 40 },
  floodRate: { name: "FLOOD_RATE", standard: 2000 },
  patience: { name: "PATIENCE", standard: 0 },
};

/** Takes the environment, returns the knobs; throws one line that names a setting which is not a whole number above 0. */
export function readKnobs(environment: Record<string, string | undefined>): Knobs {
  const read = (key: keyof Knobs): number => {
    const { name, standard } = settings[key];
    const value = environment[name] || String(standard);
    const least = Math.min(1, standard);
    if (!/^\d{1,6}$/.test(value) || Number(value) < least)
      throw new Error(`${name} '${value}' is not a whole number of ${least} or more: use ${standard}, or leave it out`);
    return Number(value);
  };
  return {
    rounds: read("rounds"),
    seconds: read("seconds"),
    connections: read("connections"),
    pageRate: read("pageRate"),
    floodRate: read("floodRate"),
    patience: read("patience"),
  };
}

/** Takes the environment, returns the comparisons that ONLY names (separated by spaces or commas), else all; throws on an unknown one. */
export function readChoice(environment: Record<string, string | undefined>, known: string[]): string[] {
  const wanted = (environment.ONLY ?? "").split(/[\s,]+/).filter(Boolean);
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown) throw new Error(`ONLY '${unknown}' is no comparison: choose among ${known.join(", ")}`);
  return wanted.length ? wanted : known;
}
