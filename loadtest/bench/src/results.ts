/** The results of one comparison: a table, and the column of it that the chart shows. */
export interface Comparison {
  title: string;
  how: string;
  head: string[];
  rows: [name: string, ...cells: (number | string)[]][];
  /** The index in `head`. */
  chart: number;
}

/** A number with three significant digits, thousands separated. */
export const figure = (value: number) => {
  if (Number.isNaN(value)) return "–";
  return value >= 1000 ? Math.round(value).toLocaleString("en-GB") : String(Number(value.toPrecision(3)));
};

const row = (cells: string[]) => `| ${cells.join(" | ")} |`;
const show = (cell: number | string) => (typeof cell === "number" ? figure(cell) : cell);

/** A comparison as Markdown, the table's columns aligned to the right except for the first. */
export function markdown({ title, how, head, rows }: Comparison): string {
  const rule = head.map((_, at) => (at ? "--:" : "---"));
  const table = [head, rule, ...rows.map((cells) => cells.map(show))].map(row).join("\n");
  return `## ${title}\n\n${how}\n\n${table}`;
}

const [WIDTH, ROW, TOP, LEFT, RIGHT] = [760, 30, 56, 330, 80];
const text = (x: number, y: number, content: string, more = "") => `<text x="${x}" y="${y}" ${more}>${content}</text>`;

/** Draws one column of a comparison as SVG: a bar for each row. */
export function chart({ title, head, rows, chart: column }: Comparison): string {
  const bars = rows.map((cells) => ({ name: cells[0], value: Number(cells[column]) || 0 }));
  const scale = (WIDTH - LEFT - RIGHT) / Math.max(...bars.map(({ value }) => value), 1e-9);
  const drawn = bars.map(({ name, value }, at) => {
    const y = TOP + ROW * at;
    const bar = `<rect x="${LEFT}" y="${y + 4}" width="${(value * scale).toFixed(1)}" height="20" fill="#6c8ebf"/>`;
    const label = text(LEFT - 8, y + 18, name, 'text-anchor="end"');
    return label + bar + text(Math.round(LEFT + value * scale) + 8, y + 18, figure(value));
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${TOP + ROW * bars.length + 12}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    text(12, 22, title, 'font-size="15" font-weight="bold"'),
    text(12, 42, head[column] ?? ""),
    ...drawn,
    "</svg>\n",
  ].join("\n");
}
