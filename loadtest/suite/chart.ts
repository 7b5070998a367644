import type { Summary } from "./summary.ts";
import { RESULTS } from "./text.ts";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [720, 240, 64, 28, 34];

/** The run's pages over time as an SVG of its own, for a pull request: median, p95, and a mark where requests were not answered. */
export function chart({ timeline, seconds, profile, result }: Summary): string {
  const highest = Math.max(1, ...timeline.map(({ p95 }) => p95));
  const power = 10 ** Math.floor(Math.log10(highest));
  const top = power * ([1, 2, 5, 10].find((step) => step * power >= highest) ?? 10);
  const x = (second: number) => LEFT + ((WIDTH - LEFT - 12) * second) / Math.max(1, seconds);
  const y = (ms: number) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * ms) / top;
  const line = (key: "p50" | "p95", color: string) => {
    const points = timeline.filter(({ count }) => count > 0).map((at) => `${x(at.second)},${y(at[key])}`);
    return `<polyline points="${points.join(" ")}" fill="none" stroke="${color}" stroke-width="2"/>`;
  };
  const label = (left: number, from: number, words: string, anchor: string) =>
    `<text x="${left}" y="${from}" text-anchor="${anchor}">${words}</text>`;
  const ticks = [0, top / 2, top].map((ms) => {
    const rule = `<line x1="${LEFT}" x2="${WIDTH - 12}" y1="${y(ms)}" y2="${y(ms)}" stroke="#8886"/>`;
    return rule + label(LEFT - 6, y(ms) + 4, `${ms} ms`, "end");
  });
  const gaps = timeline.filter(({ answered }) => answered < 1).map(({ second }) => `${x(second)},${y(0)}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Page response times of ${profile}" font-family="system-ui, sans-serif" font-size="12" fill="#777">`,
    label(LEFT, 18, `Pages: median (blue), p95 (orange), not answered (red) · ${RESULTS[result]}`, "start"),
    ...ticks,
    ...[0, seconds].map((second) => label(x(second), HEIGHT - 8, `${second.toFixed(0)} s`, second ? "end" : "middle")),
    line("p95", "#d9730d"),
    line("p50", "#2563c9"),
    ...gaps.map((at) => `<path d="M${at}h0" stroke="#c2293b" stroke-width="10" stroke-linecap="round"/>`),
    "</svg>\n",
  ].join("\n");
}
