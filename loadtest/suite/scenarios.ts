import { type JourneyName, journeysFor, shareOfJourney } from "../journeys/index.ts";
import type { Options } from "../lib/options.ts";
import type { Plan } from "./plan.ts";

const SMOKE_ROUNDS = 5;
/** Virtual users suffice for iterations of this length; if they take longer, k6 drops iterations and the summary says so. */
const MAX_ITERATION_SECONDS = 10;
/** Of each journey, in any run. */
const MIN_ITERATIONS = 3;

/** k6's scenarios for a profile: one per journey, each with its share of the rate; only one for a profile without stages. */
export function scenarios(plan: Plan): Record<string, Record<string, unknown>> {
  const names = journeysFor(plan.options);
  if (plan.profile.stages.length === 0)
    return {
      [plan.name]: {
        executor: "shared-iterations",
        vus: 1,
        iterations: names.length * SMOKE_ROUNDS,
        maxDuration: "30m",
      },
    };
  const stages = stagesOf(plan);
  return Object.fromEntries(
    names.map((name) => {
      const rate = perMinute(plan, name);
      const peak = (Math.max(...stages.map(([load]) => load)) * rate) / 60;
      const vus = (seconds: number) => Math.max(1, Math.min(plan.options.maxVus, Math.ceil(peak * seconds)));
      return [
        name,
        {
          executor: "ramping-arrival-rate",
          // k6 takes whole numbers, and a share may be less than one per second.
          timeUnit: "1m",
          startRate: 0,
          preAllocatedVUs: vus(0.5),
          maxVUs: vus(MAX_ITERATION_SECONDS),
          stages: stages.map(([load, seconds]) => ({ target: Math.round(load * rate), duration: `${seconds}s` })),
          gracefulStop: "15s",
        },
      ];
    }),
  );
}

/** The journey of an iteration: the scenario's own, or the next in turn if one scenario runs them all. */
export function journeyOf(scenario: string, iteration: number, options: Options): JourneyName {
  const names = journeysFor(options);
  return names.find((name) => name === scenario) ?? (names[iteration % names.length] as JourneyName);
}

/** The number of iterations that a run starts. */
export function plannedIterations(plan: Plan): number {
  const names = journeysFor(plan.options);
  if (plan.profile.stages.length === 0) return names.length * SMOKE_ROUNDS;
  return Math.ceil(names.reduce((sum, name) => sum + (area(plan) * perMinute(plan, name)) / 60, 0));
}

/** Iterations per minute of a journey at load 1; in a short run high enough for the journey's checks to have samples. */
function perMinute(plan: Plan, name: JourneyName): number {
  const { options, profile } = plan;
  const total = journeysFor(options).reduce((sum, other) => sum + shareOfJourney(other, options), 0);
  const share = shareOfJourney(name, options) / total;
  return Math.ceil(60 * Math.max((options.rate ?? profile.rate) * share, MIN_ITERATIONS / area(plan)));
}

/** Length of a run's plateau in seconds. */
export const plateauOf = ({ options, profile }: Plan): number => options.duration ?? profile.plateau;

const stagesOf = (plan: Plan): [load: number, seconds: number][] =>
  plan.profile.stages.map(([load, seconds]) => [load, seconds === "plateau" ? plateauOf(plan) : seconds]);

/** Seconds at load 1 that make the same number of iterations. */
function area(plan: Plan): number {
  const stages = stagesOf(plan);
  return stages.reduce((sum, [load, seconds], at) => sum + (((stages[at - 1]?.[0] ?? 0) + load) / 2) * seconds, 0);
}
