import type { Knobs } from "./knobs.ts";
import { type Load, parseH2loadLog, parseWrk, type Script, wrk } from "./load.ts";
import { measure, type Plan, type Sample } from "./measure.ts";
import { waitForQuiet } from "./quiet.ts";
import type { Claim, Goal } from "./report.ts";
import type { Stage } from "./stage.ts";
import { inTurn, ratio } from "./statistics.ts";

/** What the comparisons share: the stage, the knobs, and how plans are measured against each other. */
export class Bench {
  readonly stage: Stage;
  readonly knobs: Knobs;

  constructor(stage: Stage, knobs: Knobs) {
    this.stage = stage;
    this.knobs = knobs;
  }

  /** Runs wrk in the load's container. */
  async wrk(what: Script, url: string, connections: number): Promise<Load> {
    return parseWrk(await this.stage.exec("load", ...wrk(what, url, connections, this.knobs.seconds)));
  }

  /** The same bench with this many times the rounds: where a difference is small. */
  longer(times: number): Bench {
    return new Bench(this.stage, { ...this.knobs, rounds: this.knobs.rounds * times });
  }

  /** Runs an h2load command of load.ts in the load's container. */
  async h2load(command: string[], seconds: number): Promise<Load> {
    return parseH2loadLog(await this.stage.exec("load", ...command), seconds);
  }

  /** Measures each plan once to warm it up, then measures all of them in turn. */
  async compare<Name extends string>(plans: Record<Name, Plan>): Promise<Record<Name, Sample[]>> {
    const entries = Object.entries(plans) as [Name, Plan][];
    for (const [, plan] of entries) await measure(this.stage, plan);
    const contenders = entries.map(([name, plan]) => [name, () => this.#measureInQuiet(plan)]);
    return inTurn(this.knobs.rounds, Object.fromEntries(contenders) as Record<Name, () => Promise<Sample>>);
  }

  async #measureInQuiet(plan: Plan): Promise<Sample> {
    await waitForQuiet(this.stage, this.knobs.patience);
    return measure(this.stage, plan);
  }
}

/** A ratio of one number of the samples, round by round. */
export function claim(text: string, of: Sample[], by: Sample[], pick: keyof Sample, goal?: Goal): Claim {
  const values = (samples: Sample[]) => samples.map((sample) => sample[pick]);
  return { text, ratio: ratio(values(of), values(by)), ...(goal && { goal }) };
}
