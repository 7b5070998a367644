import type { Sample } from "./measure.ts";
import { type Spread, spread } from "./statistics.ts";

/** A ratio of two contenders' figures. */
export interface Claim {
  text: string;
  ratio: Spread;
}

/** A column of measurements: its name, the figure, and how its median and spread are written. */
export type Column = [title: string, pick: string, show: (values: Spread) => string];

/** The results of one comparison: the samples of each contender in order of rounds, and the ratios computed from them. */
export interface Comparison {
  title: string;
  how: string;
  samples: Record<string, Sample[]>;
  claims: Claim[];
  columns: Column[];
  /** The figure that the chart shows, and what it is. */
  chart: [pick: string, title: string];
}

/** A number with three significant digits, thousands separated. */
export const figure = (value: number) =>
  value >= 1000 ? Math.round(value).toLocaleString("en-GB") : String(Number(value.toPrecision(3)));

/** A cell: the median; the median with lowest and highest; as a share. */
export const middle = ({ median }: Spread) => figure(median);
export const whole = ({ median, low, high }: Spread) => `${figure(median)} (${figure(low)} – ${figure(high)})`;
export const percent = ({ median }: Spread) => `${Math.round(median * 100)} %`;

/** The figure of one key in each sample. */
export const pick = (samples: Sample[], key: string) =>
  spread(samples.map((sample) => (sample as unknown as Record<string, number>)[key] as number));

/** The columns of comparisons of throughput. */
export const throughput: Column[] = [
  ["per second", "perSecond", whole],
  ["per CPU second", "perCpuSecond", whole],
  ["p50 ms", "p50", whole],
  ["p99 ms", "p99", whole],
  ["at the sink per second", "arrivedPerSecond", middle],
  ["cores of load and sink", "coresUsedByLoad", middle],
  ["other work", "otherWorkShare", percent],
];

const row = (cells: string[]) => `| ${cells.join(" | ")} |`;
/** A table as Markdown, its columns aligned to the right except for the first. */
export const table = (head: string[], rows: string[][]) =>
  [head, head.map((_, index) => (index ? "--:" : "---")), ...rows].map(row).join("\n");

/** One comparison as Markdown: the measurements, then the ratios. */
export function markdown({ title, how, samples, claims, columns }: Comparison): string {
  const cells = (list: Sample[]) => columns.map(([, key, show]) => show(pick(list, key)));
  const measured = Object.entries(samples).map(([name, list]) => [name, ...cells(list)]);
  const parts = [`## ${title}`, how, table(["", ...columns.map(([name]) => name)], measured)];
  const ratios = claims.map(({ text, ratio }) => [text, whole(ratio)]);
  if (ratios.length) parts.push(table(["ratio, round by round", "median (low – high)"], ratios));
  return parts.join("\n\n");
}
