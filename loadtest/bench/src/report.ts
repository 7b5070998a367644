import type { Sample } from "./measure.ts";
import { type Spread, spread } from "./statistics.ts";

/** A bound on a ratio. */
export type Goal = { atLeast: number } | { atMost: number };

/** One ratio: what is divided by what, and the goal where there is one. */
export interface Claim {
  text: string;
  ratio: Spread;
  goal?: Goal;
}

/** What one comparison found: the samples of each contender in order of rounds, and the ratios drawn from them. */
export interface Comparison {
  title: string;
  how: string;
  samples: Record<string, Sample[]>;
  claims: Claim[];
}

/** Whether a goal is met by the median, and by every round: "met", "met (not in every round)", "missed", or "reference" without a goal. */
export function verdict({ ratio, goal }: Claim): string {
  if (!goal) return "reference";
  const holds = (value: number) => ("atLeast" in goal ? value >= goal.atLeast : value <= goal.atMost);
  if (!holds(ratio.median)) return "missed";
  return holds(ratio.low) && holds(ratio.high) ? "met" : "met (not in every round)";
}

/** A number with three significant digits, thousands separated. */
export function figure(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString("en-GB") : Number(value.toPrecision(3)).toString();
}

const range = ({ median, low, high }: Spread) => `${figure(median)} (${figure(low)} – ${figure(high)})`;
const bound = (goal?: Goal) => (!goal ? "" : "atLeast" in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`);

const row = (...cells: string[]) => `| ${cells.join(" | ")} |`;
const table = (head: string[], rows: string[][]) =>
  [row(...head), row(...head.map((_, index) => (index ? "--:" : "---"))), ...rows.map((cells) => row(...cells))].join(
    "\n",
  );

const columns: [string, (sample: Sample) => number][] = [
  ["per second", (sample) => sample.perSecond],
  ["per second of its CPU", (sample) => sample.perCore],
  ["CPU s per 1,000", (sample) => sample.costPer1000],
  ["p50 ms", (sample) => sample.p50],
  ["p99 ms", (sample) => sample.p99],
  ["at the sink per second", (sample) => sample.arrivedPerSecond],
  ["core used", (sample) => sample.busy],
  ["load's core used", (sample) => sample.otherBusy],
];

/** One comparison as Markdown: what was measured, and the ratios with their goals. Each cell: median (lowest – highest). */
export function markdown({ title, how, samples, claims }: Comparison): string {
  const measured = Object.entries(samples).map(([name, list]) => [
    name,
    ...columns.map(([, pick]) => range(spread(list.map(pick)))),
  ]);
  const ratios = claims.map((claim) => [claim.text, range(claim.ratio), bound(claim.goal), verdict(claim)]);
  return [
    `## ${title}`,
    how,
    table(["", ...columns.map(([name]) => name)], measured),
    ...(ratios.length ? [table(["ratio, round by round", "median (low – high)", "goal", ""], ratios)] : []),
  ].join("\n\n");
}
