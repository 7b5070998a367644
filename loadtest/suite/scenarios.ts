import { type JourneyName, journeysFor, shareOfJourney } from "../journeys/index.ts";
import type { Plan } from "./plan.ts";

/** How often each journey runs in smoke; in other profiles, before the shares count. */
const ROUNDS = { smoke: 5, other: 3 };
/** For longer iterations, virtual users may be missing: k6 drops iterations. */
const MAX_ITERATION_SECONDS = 10;
/** The fractions of its multiples cover 0 to 1 evenly. */
const GOLDEN_RATIO = 0.618034;

export function scenarios(plan: Plan): Record<string, Record<string, unknown>> {
  const { name, options, profile } = plan;
  const stages = stagesOf(plan);
  // Once, beside the load: https://grafana.com/docs/k6/latest/using-k6-browser/
  const once = { executor: "shared-iterations", exec: "browser", options: { browser: { type: "chromium" } } };
  const browser: Record<string, Record<string, unknown>> = options.browser && !options.noBrowser
    ? { browser: once }
    : {};
  if (stages.length === 0) {
    const iterations = smokeIterations(plan);
    return { [name]: { executor: "shared-iterations", vus: 1, iterations, maxDuration: "30m" }, ...browser };
  }
  const rate = options.rate ?? profile.rate;
  const peak = Math.max(...stages.map(([load]) => load)) * rate;
  const vus = (seconds: number) => Math.max(1, Math.min(options.maxVus, Math.ceil(peak * seconds)));
  return {
    ...browser,
    [name]: {
      executor: "ramping-arrival-rate",
      // k6 takes whole numbers, and a rate may be less than one per second.
      timeUnit: "1m",
      startRate: 0,
      preAllocatedVUs: vus(2),
      maxVUs: vus(MAX_ITERATION_SECONDS),
      stages: stages.map(([load, seconds]) => ({ target: Math.round(60 * load * rate), duration: `${seconds}s` })),
      gracefulStop: "15s",
    },
  };
}

/** The rounds of all journeys in turn. A page more, for the trace page. */
const rounds = ({ options, profile }: Plan): number =>
  Math.max(profile.stages.length === 0 ? ROUNDS.smoke : ROUNDS.other, options.pages.length + 1);

/** The round that an iteration belongs to, which chooses its page. */
export const roundOf = ({ options }: Plan, iteration: number): number =>
  Math.floor(iteration / journeysFor(options).length);

/** The journey of an iteration: in turn at first, and always in smoke; then by their shares. */
export function journeyOf(plan: Plan, iteration: number): JourneyName {
  const { options, profile } = plan;
  const names = journeysFor(options);
  const inTurn = names[iteration % names.length] as JourneyName;
  if (profile.stages.length === 0 || iteration < rounds(plan) * names.length) return inTurn;
  const total = names.reduce((sum, name) => sum + shareOfJourney(name, options), 0);
  let point = ((iteration * GOLDEN_RATIO) % 1) * total;
  for (const name of names) {
    point -= shareOfJourney(name, options);
    if (point < 0) return name;
  }
  return inTurn;
}

export const smokeIterations = (plan: Plan): number => journeysFor(plan.options).length * rounds(plan);

export const plateauOf = ({ options, profile }: Plan): number => options.duration ?? profile.plateau;

const stagesOf = (plan: Plan): [load: number, seconds: number][] =>
  plan.profile.stages.map(([load, seconds]) => [load, seconds === "plateau" ? plateauOf(plan) : seconds]);
