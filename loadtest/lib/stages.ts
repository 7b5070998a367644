/** A stretch of a run: the load at its end, as a multiple of the rate, and its length. */
export interface Stage {
  load: number;
  /** Seconds, or `plateau` for what DURATION says. */
  seconds: number | "plateau";
}

export interface Profile {
  /** What it is for, in the summary and the README. */
  purpose: string;
  /** Visits started a second at load 1. */
  rate: number;
  /** Seconds of the plateau. */
  plateau: number;
  /** None: one visitor makes each journey a few times, one after the other. */
  stages: Stage[];
  /** Stop at the first crossed limit: the load at that moment is the result. */
  stopAtLimit?: true;
}

/** The load shapes. Rates suit two cores shared by proxy, app, ingest and generator; RATE replaces them. */
export const PROFILES = {
  smoke: { purpose: "every check a few times, hardly any load", rate: 1, plateau: 0, stages: [] },
  average: { purpose: "a usual hour in a minute", rate: 10, plateau: 60, stages: ramp(1) },
  stress: { purpose: "twice the usual load, for longer", rate: 20, plateau: 180, stages: ramp(1) },
  spike: {
    purpose: "five times the usual load at once, then calm: does it come back?",
    rate: 10,
    plateau: 20,
    stages: [
      { load: 1, seconds: 5 },
      { load: 1, seconds: 15 },
      { load: 5, seconds: 2 },
      { load: 5, seconds: "plateau" },
      { load: 1, seconds: 2 },
      { load: 1, seconds: 30 },
    ],
  },
  soak: { purpose: "the usual load for ten minutes: does anything pile up?", rate: 8, plateau: 600, stages: ramp(1) },
  breakpoint: {
    purpose: "more and more until a limit is crossed",
    rate: 100,
    plateau: 300,
    stages: [{ load: 1, seconds: "plateau" }],
    stopAtLimit: true,
  },
  outage: {
    purpose: "the ingest goes away for the middle third",
    rate: 6,
    plateau: 60,
    stages: [
      { load: 1, seconds: 1 },
      { load: 1, seconds: "plateau" },
    ],
  },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof PROFILES;

function ramp(load: number): Stage[] {
  return [
    { load, seconds: 10 },
    { load, seconds: "plateau" },
    { load: 0, seconds: 5 },
  ];
}

/** Seconds around the ends of an outage in which nothing is said about the tunnel: nobody switches to the second. */
const EDGE = 5;

export type Phase = "before" | "down" | "after" | "edge";

/** Where in an outage a moment is: the middle third of the plateau, less its edges. */
export function outagePhase(elapsed: number, plateau: number): Phase {
  const [down, up] = [plateau / 3, (2 * plateau) / 3];
  if (Math.abs(elapsed - down) < EDGE || (elapsed >= up && elapsed - up < EDGE)) return "edge";
  return elapsed < down ? "before" : elapsed < up ? "down" : "after";
}
