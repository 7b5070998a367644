/** As in k6's `stages`: the load at its end, as a multiple of the rate, and its seconds; `plateau` for DURATION. */
export type Stage = [load: number, seconds: number | "plateau"];

export interface LoadProfile {
  /** Iterations started per second at load 1. */
  rate: number;
  plateau: number;
  /** None: one virtual user runs each journey a few times. */
  stages: Stage[];
  /** Stop at the first crossed threshold. */
  stopAtLimit?: true;
}

const RAMP: Stage[] = [
  [1, 10],
  [1, "plateau"],
  [0, 5],
];

const SPIKE: Stage[] = [
  [1, 5],
  [1, 15],
  [5, 2],
  [5, "plateau"],
  [1, 2],
  [1, 30],
];

/** For two cores shared by proxy, app, ingest and load generator. */
export const PROFILES: Record<string, LoadProfile> = {
  smoke: { rate: 1, plateau: 0, stages: [] },
  average: { rate: 10, plateau: 60, stages: RAMP },
  stress: { rate: 20, plateau: 180, stages: RAMP },
  spike: { rate: 10, plateau: 20, stages: SPIKE },
  soak: { rate: 8, plateau: 600, stages: RAMP },
  breakpoint: {
    rate: 100,
    plateau: 300,
    stages: [[1, "plateau"]],
    stopAtLimit: true,
  },
};
