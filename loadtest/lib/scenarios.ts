import { JOURNEYS, type JourneyName, journeysFor } from "./journeys.ts";
import type { Knobs } from "./knobs.ts";
import { PROFILES, type Profile, type ProfileName } from "./stages.ts";

const SMOKE_ROUNDS = 5;
/** Seconds a visit may take before the generator runs out of virtual users and drops visits, which the summary says. */
const PATIENCE = 10;

type Scenario = Record<string, unknown>;

/** k6's scenarios for a profile: one a journey, each with its share of the rate; for a profile without stages just one. */
export function scenarios(profile: ProfileName, knobs: Knobs): Record<string, Scenario> {
  const names = journeysFor(knobs);
  const total = names.reduce((sum, name) => sum + JOURNEYS[name].share, 0);
  if (PROFILES[profile].stages.length === 0) return { [profile]: inTurn(names) };
  return Object.fromEntries(names.map((name) => [name, arriving(profile, knobs, JOURNEYS[name].share / total)]));
}

/** Which journey an iteration makes: the scenario's own, or where one scenario makes them all, the next one in turn. */
export function journeyOf(scenario: string, iteration: number, knobs: Knobs): JourneyName {
  const names = journeysFor(knobs);
  return names.find((name) => name === scenario) ?? (names[iteration % names.length] as JourneyName);
}

function inTurn(names: JourneyName[]): Scenario {
  return { executor: "shared-iterations", vus: 1, iterations: names.length * SMOKE_ROUNDS, maxDuration: "120s" };
}

/** Rates are a minute's, since a journey's share may well be less than one a second and k6 takes whole numbers. */
function arriving(profile: ProfileName, knobs: Knobs, share: number): Scenario {
  const { rate, stages } = shape(profile, knobs);
  const peak = Math.max(...stages.map(({ load }) => load)) * rate * share;
  const vus = (seconds: number) => Math.max(2, Math.min(knobs.maxVus, Math.ceil(peak * seconds)));
  return {
    executor: "ramping-arrival-rate",
    timeUnit: "1m",
    startRate: 0,
    preAllocatedVUs: vus(0.5),
    maxVUs: vus(PATIENCE),
    stages: stages.map(({ load, seconds }) => ({
      target: Math.round(load * rate * share * 60),
      duration: `${seconds}s`,
    })),
    gracefulStop: "15s",
  };
}

/** A profile with RATE and DURATION put in. */
export function shape(
  profile: ProfileName,
  knobs: Knobs,
): { rate: number; plateau: number; stages: { load: number; seconds: number }[] } {
  const table: Profile = PROFILES[profile];
  const plateau = knobs.duration ?? table.plateau;
  const stages = table.stages.map(({ load, seconds }) => ({
    load,
    seconds: seconds === "plateau" ? plateau : seconds,
  }));
  return { rate: knobs.rate ?? table.rate, plateau, stages };
}

/** How many visits a run starts, at most: the area below its stages. */
export function plannedVisits(profile: ProfileName, knobs: Knobs): number {
  const { rate, stages } = shape(profile, knobs);
  if (stages.length === 0) return journeysFor(knobs).length * SMOKE_ROUNDS;
  let before = 0;
  const area = stages.reduce((sum, { load, seconds }) => {
    const part = ((before + load) / 2) * seconds;
    before = load;
    return sum + part;
  }, 0);
  return Math.ceil(area * rate);
}
