import { JOURNEYS, type JourneyName, journeysFor } from "./journeys.ts";
import type { Knobs } from "./knobs.ts";
import { PROFILES, type Profile, type ProfileName, type Stage } from "./stages.ts";

const SMOKE_ROUNDS = 5;
/** Seconds a visit may take before the generator runs out of virtual users and drops visits, which the summary says. */
const PATIENCE = 10;

/** Of each journey, in any run. */
const LEAST_VISITS = 3;

type Scenario = Record<string, unknown>;

/** k6's scenarios for a profile: one a journey, each with its share of the rate; for a profile without stages just one. */
export function scenarios(profile: ProfileName, knobs: Knobs): Record<string, Scenario> {
  const names = journeysFor(knobs);
  if (PROFILES[profile].stages.length === 0) return { [profile]: inTurn(names) };
  return Object.fromEntries(
    names.map((name) => [name, arriving(shape(profile, knobs), perMinute(profile, knobs, name), knobs)]),
  );
}

/** Which journey an iteration makes: the scenario's own, or where one scenario makes them all, the next one in turn. */
export function journeyOf(scenario: string, iteration: number, knobs: Knobs): JourneyName {
  const names = journeysFor(knobs);
  return names.find((name) => name === scenario) ?? (names[iteration % names.length] as JourneyName);
}

function inTurn(names: JourneyName[]): Scenario {
  return { executor: "shared-iterations", vus: 1, iterations: names.length * SMOKE_ROUNDS, maxDuration: "120s" };
}

function arriving({ stages }: Shape, visitsAMinute: number, knobs: Knobs): Scenario {
  const peak = (Math.max(...stages.map(({ load }) => load)) * visitsAMinute) / 60;
  const vus = (seconds: number) => Math.max(2, Math.min(knobs.maxVus, Math.ceil(peak * seconds)));
  return {
    executor: "ramping-arrival-rate",
    timeUnit: "1m",
    startRate: 0,
    preAllocatedVUs: vus(0.5),
    maxVUs: vus(PATIENCE),
    stages: stages.map(({ load, seconds }) => ({ target: Math.round(load * visitsAMinute), duration: `${seconds}s` })),
    gracefulStop: "15s",
  };
}

/**
 * How often a journey is made at load 1. By the minute, since its share may be less than one a second and k6 takes whole
 * numbers; and in a brief run still often enough for its checks to have samples.
 */
function perMinute(profile: ProfileName, knobs: Knobs, name: JourneyName): number {
  const total = journeysFor(knobs).reduce((sum, other) => sum + JOURNEYS[other].share, 0);
  const { rate, stages } = shape(profile, knobs);
  return Math.ceil(Math.max((rate * 60 * JOURNEYS[name].share) / total, (LEAST_VISITS * 60) / area(stages)));
}

/** How many visits a run starts. */
export function plannedVisits(profile: ProfileName, knobs: Knobs): number {
  const names = journeysFor(knobs);
  const { stages } = shape(profile, knobs);
  if (stages.length === 0) return names.length * SMOKE_ROUNDS;
  const aMinute = names.reduce((sum, name) => sum + perMinute(profile, knobs, name), 0);
  return Math.ceil((area(stages) * aMinute) / 60);
}

/** Seconds at load 1 that do the same work. */
function area(stages: Shape["stages"]): number {
  const before = (at: number) => stages[at - 1]?.load ?? 0;
  return stages.reduce((sum, { load, seconds }, at) => sum + ((before(at) + load) / 2) * seconds, 0);
}

interface Shape {
  rate: number;
  plateau: number;
  stages: { load: number; seconds: number }[];
}

/** A profile with RATE and DURATION put in. */
export function shape(profile: ProfileName, knobs: Knobs): Shape {
  const table: Profile = PROFILES[profile];
  const plateau = knobs.duration ?? table.plateau;
  const seconds = (stage: Stage) => (stage.seconds === "plateau" ? plateau : stage.seconds);
  const stages = table.stages.map((stage) => ({ load: stage.load, seconds: seconds(stage) }));
  return { rate: knobs.rate ?? table.rate, plateau, stages };
}
