/** A stage as in k6's `stages`: the load at its end, as a multiple of the rate, and its length. */
export interface Stage {
  load: number;
  /** Seconds, or `plateau` for the option DURATION. */
  seconds: number | "plateau";
}

export interface LoadProfile {
  /** Its purpose, shown in the summary. */
  purpose: string;
  /** Iterations started per second at load 1. */
  rate: number;
  /** Length of the plateau in seconds. */
  plateau: number;
  /** None: one virtual user runs each journey a few times, one after the other. */
  stages: Stage[];
  /** Stop at the first crossed threshold: the load at that moment is the result. */
  stopAtLimit?: true;
}

/** The load profiles. Their rates suit two cores shared by proxy, app, ingest and load generator; RATE overrides them. */
export const PROFILES = {
  smoke: { purpose: "every check a few times, little load", rate: 1, plateau: 0, stages: [] },
  average: { purpose: "the usual load for a minute", rate: 10, plateau: 60, stages: ramp(1) },
  stress: { purpose: "twice the usual load, for longer", rate: 20, plateau: 180, stages: ramp(1) },
  spike: {
    purpose: "five times the usual load at once, then the usual load: does it recover?",
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
    purpose: "increasing load until a threshold is crossed",
    rate: 100,
    plateau: 300,
    stages: [{ load: 1, seconds: "plateau" }],
    stopAtLimit: true,
  },
  outage: {
    purpose: "the ingest is down for the middle third",
    rate: 6,
    plateau: 60,
    stages: [
      { load: 1, seconds: 1 },
      { load: 1, seconds: "plateau" },
    ],
  },
} as const satisfies Record<string, LoadProfile>;

export type ProfileName = keyof typeof PROFILES;

function ramp(load: number): Stage[] {
  return [
    { load, seconds: 10 },
    { load, seconds: "plateau" },
    { load: 0, seconds: 5 },
  ];
}
