import { OptionError } from "../lib/options.ts";
import { type Limits, readJson } from "./limits.ts";

/** The version of summary.json; a baseline of another one cannot be compared. */
export const SCHEMA = 2;

/** What a run is compared with. */
export interface Baseline {
  time: string;
  commit: string;
  availability: number;
  /** By row of durations: the former p95, and the p95 above which it is a regression. */
  times: Record<string, { p95: number; max: number }>;
}

/** Fewer samples say nothing about a p95. */
const MIN_SAMPLES = 20;

/**
 * Reads a former summary.json. Throws an OptionError if it is none, or of another profile: its load was another one.
 */
export function readBaseline(profile: string, value: string, { noise, noiseMs }: Limits): Baseline | undefined {
  if (!value) return undefined;
  const { schema, profile: former, time, commit, availability, durations } = readJson("BASELINE", value);
  if (schema !== SCHEMA || !Array.isArray(durations))
    throw new OptionError(`BASELINE "${value}" is not a summary.json with schema ${SCHEMA}: give one of this version`);
  if (former !== profile) throw new OptionError(`BASELINE "${value}" is of PROFILE ${former}: give one of ${profile}`);
  const enough = durations.filter(({ count }) => count >= MIN_SAMPLES);
  const times = enough.map(({ name, p95 }) => [
    name,
    { p95, max: Math.ceil(Math.max(p95 * (1 + noise / 100), p95 + noiseMs)) },
  ]);
  return {
    time: String(time),
    commit: String(commit),
    availability: Number(availability),
    times: Object.fromEntries(times),
  };
}
