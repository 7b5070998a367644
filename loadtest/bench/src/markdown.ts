import type { Sample } from "./measure.ts";
import { type Spread, spread } from "./statistics.ts";

/** A bound on a ratio. */
export type Goal = { atLeast: number } | { atMost: number };

/** A ratio of two contenders' figures, with its goal if there is one. */
export interface Claim {
  text: string;
  ratio: Spread;
  goal?: Goal;
}

/** A column of measurements: its name, the figure, and how its median and spread are written. */
export type Column = [title: string, pick: string, show: (values: Spread) => string];

/** The results of one comparison: the samples of each contender in order of rounds, and the ratios computed from them. */
export interface Comparison {
  title: string;
  how: string;
  samples: Record<string, Sample[]>;
  claims: Claim[];
  /** Instead of those of throughput. */
  columns?: Column[];
}

/** Whether the median and every round meet the goal: "met", "met, not in every round", "missed"; "" without a goal. */
export function goalResult({ ratio, goal }: Claim): string {
  if (!goal) return "";
  const holds = (value: number) => ("atLeast" in goal ? value >= goal.atLeast : value <= goal.atMost);
  if (!holds(ratio.median)) return "missed";
  return holds(ratio.low) && holds(ratio.high) ? "met" : "met, not in every round";
}

/** A number with three significant digits, thousands separated. */
export function figure(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString("en-GB") : String(Number(value.toPrecision(3)));
}

/** How a cell is written: the median; the median with lowest and highest; the same of a share. */
export const middle = ({ median }: Spread) => figure(median);
export const whole = (values: Spread) => `${middle(values)} (${figure(values.low)} – ${figure(values.high)})`;
export const percent = ({ median, low, high }: Spread) => {
  const [middle, from, to] = [median, low, high].map((share) => Math.round(share * 100));
  return `${middle} % (${from} – ${to})`;
};
const bound = (goal?: Goal) => (!goal ? "" : "atLeast" in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`);

const throughput: Column[] = [
  ["per second", "perSecond", whole],
  ["per CPU second", "perCpuSecond", whole],
  ["CPU s per 1,000", "cpuSecondsPer1000", middle],
  ["p50 ms", "p50", whole],
  ["p99 ms", "p99", whole],
  ["at the sink per second", "arrivedPerSecond", middle],
  ["cores used", "coresUsed", middle],
  ["by load and sink", "coresUsedByLoad", middle],
  ["other work, share of the machine", "otherWorkShare", middle],
];

const row = (...cells: string[]) => `| ${cells.join(" | ")} |`;
/** A table as Markdown, its columns aligned to the right but for the first. */
export const table = (head: string[], rows: string[][]) =>
  [row(...head), row(...head.map((_, index) => (index ? "--:" : "---"))), ...rows.map((cells) => row(...cells))].join(
    "\n",
  );

/** One comparison as Markdown: the measurements, and the ratios with their goals. A cell is a median (lowest – highest). */
export function markdown({ title, how, samples, claims, columns = throughput }: Comparison): string {
  const pick = (sample: Sample, key: string) => (sample as unknown as Record<string, number>)[key] as number;
  const cells = (list: Sample[]) => columns.map(([, key, show]) => show(spread(list.map((one) => pick(one, key)))));
  const measured = Object.entries(samples).map(([name, list]) => [name, ...cells(list)]);
  const ratios = claims.map((claim) => [claim.text, whole(claim.ratio), bound(claim.goal), goalResult(claim)]);
  const parts = [`## ${title}`, how, table(["", ...columns.map(([name]) => name)], measured)];
  if (ratios.length) parts.push(table(["ratio, round by round", "median (low – high)", "goal", ""], ratios));
  return parts.join("\n\n");
}
