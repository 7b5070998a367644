import { type Load, parseH2load, parseWrk, wrk } from "./load.ts";
import type { Claim } from "./markdown.ts";
import { type Cost, measure, type Plan, type Sample } from "./measure.ts";
import type { Options } from "./options.ts";
import { inTurn, ratio } from "./statistics.ts";
import type { Testbed } from "./testbed.ts";

/** Shared by the comparisons: the testbed, the options, and measuring plans in turn. */
export class Bench {
  readonly testbed: Testbed;
  readonly options: Options;

  constructor(testbed: Testbed, options: Options) {
    this.testbed = testbed;
    this.options = options;
  }

  /** Runs wrk in the load's container. */
  async wrk(script: "envelope" | "browser", url: string, connections: number): Promise<Load> {
    return parseWrk(await this.testbed.exec("load", ...wrk(script, url, connections, this.options.seconds)));
  }

  /** Runs an h2load command of load.ts in the load's container. */
  async h2load(command: string[], seconds: number): Promise<Load> {
    return parseH2load(await this.testbed.exec("load", ...command), seconds);
  }

  /** Measures each plan once to warm it up, then measures all of them in turn. */
  async compare<Name extends string, Results extends Load>(
    plans: Record<Name, Plan<Results>>,
  ): Promise<Record<Name, (Results & Cost)[]>> {
    const entries = Object.entries(plans) as [Name, Plan<Results>][];
    for (const [, plan] of entries) await measure(this.testbed, plan);
    const contenders = entries.map(([name, plan]) => [name, () => measure(this.testbed, plan)]);
    return inTurn(this.options.rounds, Object.fromEntries(contenders) as Record<Name, () => Promise<Results & Cost>>);
  }
}

/** A ratio of one number of the samples, round by round. */
export function claim(text: string, of: Sample[], by: Sample[], key: keyof Sample): Claim {
  const values = (samples: Sample[]) => samples.map((sample) => sample[key]);
  return { text, ratio: ratio(values(of), values(by)) };
}
