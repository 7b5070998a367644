import { type JourneyName, journeysFor, shareOfJourney } from "../journeys/index.ts";
import type { Options } from "../lib/options.ts";
import { type LoadProfile, PROFILES, type ProfileName, type Stage } from "./profiles.ts";

const SMOKE_ROUNDS = 5;
/** Virtual users suffice for iterations of this length; if they take longer, k6 drops iterations and the summary says so. */
const MAX_ITERATION_SECONDS = 10;

/** Of each journey, in any run. */
const MIN_ITERATIONS = 3;

type Scenario = Record<string, unknown>;

/** k6's scenarios for a profile: one per journey, each with its share of the rate; only one for a profile without stages. */
export function scenarios(profile: ProfileName, options: Options): Record<string, Scenario> {
  const names = journeysFor(options);
  if (PROFILES[profile].stages.length === 0) return { [profile]: sharedIterations(names) };
  return Object.fromEntries(
    names.map((name) => [name, arrivalRate(shape(profile, options), perMinute(profile, options, name), options)]),
  );
}

/** The journey of an iteration: the scenario's own, or the next in turn if one scenario runs them all. */
export function journeyOf(scenario: string, iteration: number, options: Options): JourneyName {
  const names = journeysFor(options);
  return names.find((name) => name === scenario) ?? (names[iteration % names.length] as JourneyName);
}

function sharedIterations(names: JourneyName[]): Scenario {
  return { executor: "shared-iterations", vus: 1, iterations: names.length * SMOKE_ROUNDS, maxDuration: "10m" };
}

function arrivalRate({ stages }: Shape, iterationsPerMinute: number, options: Options): Scenario {
  const peak = (Math.max(...stages.map(({ load }) => load)) * iterationsPerMinute) / 60;
  const vus = (seconds: number) => Math.max(2, Math.min(options.maxVus, Math.ceil(peak * seconds)));
  return {
    executor: "ramping-arrival-rate",
    timeUnit: "1m",
    startRate: 0,
    preAllocatedVUs: vus(0.5),
    maxVUs: vus(MAX_ITERATION_SECONDS),
    stages: stages.map(({ load, seconds }) => ({
      target: Math.round(load * iterationsPerMinute),
      duration: `${seconds}s`,
    })),
    gracefulStop: "15s",
  };
}

/**
 * Iterations per minute of a journey at load 1: per minute because k6 takes whole numbers and a share may be less than one
 * per second. In a short run it is high enough for the journey's checks to have samples.
 */
function perMinute(profile: ProfileName, options: Options, name: JourneyName): number {
  const total = journeysFor(options).reduce((sum, other) => sum + shareOfJourney(other, options), 0);
  const { rate, stages } = shape(profile, options);
  return Math.ceil(Math.max((rate * 60 * shareOfJourney(name, options)) / total, (MIN_ITERATIONS * 60) / area(stages)));
}

/** The number of iterations that a run starts. */
export function plannedIterations(profile: ProfileName, options: Options): number {
  const names = journeysFor(options);
  const { stages } = shape(profile, options);
  if (stages.length === 0) return names.length * SMOKE_ROUNDS;
  const perMinuteTotal = names.reduce((sum, name) => sum + perMinute(profile, options, name), 0);
  return Math.ceil((area(stages) * perMinuteTotal) / 60);
}

/** Seconds at load 1 that make the same number of iterations. */
function area(stages: Shape["stages"]): number {
  const before = (at: number) => stages[at - 1]?.load ?? 0;
  return stages.reduce((sum, { load, seconds }, at) => sum + ((before(at) + load) / 2) * seconds, 0);
}

interface Shape {
  rate: number;
  plateau: number;
  stages: { load: number; seconds: number }[];
}

/** A profile with RATE and DURATION applied. */
export function shape(profile: ProfileName, options: Options): Shape {
  const table: LoadProfile = PROFILES[profile];
  const plateau = options.duration ?? table.plateau;
  const seconds = (stage: Stage) => (stage.seconds === "plateau" ? plateau : stage.seconds);
  const stages = table.stages.map((stage) => ({ load: stage.load, seconds: seconds(stage) }));
  return { rate: options.rate ?? table.rate, plateau, stages };
}
