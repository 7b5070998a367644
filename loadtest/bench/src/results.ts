/** The results of one comparison, as a table. */
export interface Comparison {
  title: string;
  how: string;
  head: string[];
  rows: [name: string, ...cells: (number | string)[]][];
}

/** A number with three significant digits, thousands separated. */
const figure = (value: number) =>
  value >= 1000 ? Math.round(value).toLocaleString("en-GB") : String(Number(value.toPrecision(3)));

const row = (cells: (number | string)[]) =>
  `| ${cells.map((cell) => (typeof cell === "number" ? figure(cell) : cell)).join(" | ")} |`;

/** A comparison as Markdown. */
export const markdown = ({ title, how, head, rows }: Comparison): string =>
  `## ${title}\n\n${how}\n\n${[head, head.map((_, at) => (at ? "--:" : "---")), ...rows].map(row).join("\n")}`;
