import { type Comparison, figure, pick } from "./markdown.ts";

const [WIDTH, ROW, TOP, LEFT, RIGHT] = [760, 30, 56, 210, 90];
const text = (x: number, y: number, content: string, more = "") => `<text x="${x}" y="${y}" ${more}>${content}</text>`;

/** Draws a comparison as SVG: a bar for each contender's median, a line from its lowest to its highest round. */
export function chart({ title, samples, chart: [key, what] }: Pick<Comparison, "title" | "samples" | "chart">): string {
  const bars = Object.entries(samples).map(([name, list]) => ({ name, ...pick(list, key) }));
  const scale = (WIDTH - LEFT - RIGHT) / Math.max(...bars.map(({ high }) => high));
  const rows = bars.map(({ name, median, low, high }, index) => {
    const y = TOP + ROW * index;
    const end = LEFT + high * scale;
    return [
      text(LEFT - 8, y + 18, name, 'text-anchor="end"'),
      `<rect x="${LEFT}" y="${y + 4}" width="${(median * scale).toFixed(1)}" height="20" fill="#6c8ebf"/>`,
      `<path d="M${(LEFT + low * scale).toFixed(1)} ${y + 14}H${end.toFixed(1)}" stroke="#333"/>`,
      text(Math.round(end) + 8, y + 18, figure(median)),
    ].join("\n");
  });
  const height = TOP + ROW * bars.length + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    text(12, 22, title, 'font-size="15" font-weight="bold"'),
    text(12, 42, `${what}: median, lowest and highest round`),
    ...rows,
    "</svg>",
  ].join("\n");
}
