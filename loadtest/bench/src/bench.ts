import { waitForIdle } from "./idle.ts";
import { type Load, parseH2loadLog, parseWrk, type Script, wrk } from "./load.ts";
import type { Claim, Goal } from "./markdown.ts";
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
  async wrk(script: Script, url: string, connections: number): Promise<Load> {
    return parseWrk(await this.testbed.exec("load", ...wrk(script, url, connections, this.options.seconds)));
  }

  /** The same bench with this many times the rounds, for small differences. */
  longer(times: number): Bench {
    return new Bench(this.testbed, { ...this.options, rounds: this.options.rounds * times });
  }

  /** Runs an h2load command of load.ts in the load's container. */
  async h2load(command: string[], seconds: number): Promise<Load> {
    return parseH2loadLog(await this.testbed.exec("load", ...command), seconds);
  }

  /** Measures each plan once to warm it up, then measures all of them in turn. */
  async compare<Name extends string, Results extends Load>(
    plans: Record<Name, Plan<Results>>,
  ): Promise<Record<Name, (Results & Cost)[]>> {
    const entries = Object.entries(plans) as [Name, Plan<Results>][];
    for (const [, plan] of entries) await measure(this.testbed, plan);
    const contenders = entries.map(([name, plan]) => [name, () => this.#measureWhenIdle(plan)]);
    return inTurn(this.options.rounds, Object.fromEntries(contenders) as Record<Name, () => Promise<Results & Cost>>);
  }

  async #measureWhenIdle<Results extends Load>(plan: Plan<Results>): Promise<Results & Cost> {
    await waitForIdle(this.testbed, this.options.idleTimeoutSeconds);
    return measure(this.testbed, plan);
  }
}

/** A ratio of one number of the samples, round by round. */
export function claim(text: string, of: Sample[], by: Sample[], pick: keyof Sample, goal?: Goal): Claim {
  const values = (samples: Sample[]) => samples.map((sample) => sample[pick]);
  return { text, ratio: ratio(values(of), values(by)), ...(goal && { goal }) };
}

/** The proxy beside HAProxy and Caddy, which are measured over HTTP/1.1 and HTTP/2. */
export function claimsOfOtherProxies(
  samples: Record<"proxy" | "haproxy" | "haproxy-same-work" | "caddy", Sample[]>,
): Claim[] {
  const perCpuSecond = (name: string, by: Sample[], goal?: Goal) =>
    claim(`proxy / ${name}, envelopes per CPU second`, samples.proxy, by, "perCpuSecond", goal);
  return [
    perCpuSecond("HAProxy that only rewrites", samples.haproxy),
    perCpuSecond("HAProxy doing the same work", samples["haproxy-same-work"], { atLeast: 1 }),
    perCpuSecond("Caddy", samples.caddy),
  ];
}
