import { LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, MarkLineComponent, TitleComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { Results } from "./chart.ts";
import { spread } from "./statistics.ts";

use([GridComponent, LegendComponent, LineChart, MarkLineComponent, SVGRenderer, TitleComponent]);

const WIDTH = 760;
const HEIGHT = 360;
const colours = ["#999", "#d79b00", "#6c8ebf"];

/** A point of a line: the offered load, as a multiple of the capacity, and the median of the rounds. */
type Point = [load: number, value: number];

/** The medians of one figure by contender, from samples named "<contender>, <load> ×". Throws for a name of another form. */
export function lines(samples: Results["comparisons"][number]["samples"], pick: string): Record<string, Point[]> {
  const found: Record<string, Point[]> = {};
  for (const [name, list] of Object.entries(samples)) {
    const [, contender = "", load = ""] = /^(.+), ([\d.]+) ×$/.exec(name) ?? [];
    if (!contender) throw new Error(`'${name}' is not a contender and its load`);
    const values = list.map((sample) => (sample as unknown as Record<string, number>)[pick] ?? Number.NaN);
    found[contender] = [...(found[contender] ?? []), [Number(load), spread(values).median]];
  }
  return found;
}

/**
 * Draws the comparison `overload` as SVG: good pages as a share of what is possible, and p95, over the offered load. Returns the SVG
 * document.
 */
export function overloadChart({ title, samples }: Pick<Results["comparisons"][number], "title" | "samples">): string {
  const instance = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height: HEIGHT });
  const names = Object.keys(lines(samples, "p95"));
  const series = (grid: number, pick: string, by: number, goal: number) =>
    Object.entries(lines(samples, pick)).map(([name, points], at) => ({
      ...{
        type: "line" as const,
        name,
        xAxisIndex: grid,
        yAxisIndex: grid,
        silent: true,
        symbol: "circle",
        symbolSize: 7,
      },
      data: points.map(([load, value]) => [load, value * by]),
      lineStyle: { width: 2.5 },
      ...(at === 0 && {
        markLine: { symbol: "none", label: { show: false }, data: [{ yAxis: goal }], lineStyle: { color: "#333" } },
      }),
    }));
  const nameTextStyle = { align: "left" as const };
  const axis = { type: "value" as const, nameLocation: "middle" as const, nameGap: 26 };
  const offered = { ...axis, name: "offered, × the capacity", min: 0, max: 3, interval: 1 };
  instance.setOption({
    animation: false,
    backgroundColor: "#fff",
    textStyle: { fontFamily: "sans-serif" },
    color: colours,
    title: {
      ...{ text: title, left: 12, top: 8, textStyle: { fontSize: 15 } },
      subtext: "medians; black: the goal",
    },
    legend: { data: names, right: 12, top: 12, selectedMode: false },
    grid: [
      { left: 60, width: 290, top: 84, bottom: 52 },
      { left: 440, width: 290, top: 84, bottom: 52 },
    ],
    xAxis: [
      { ...offered, gridIndex: 0 },
      { ...offered, gridIndex: 1 },
    ],
    yAxis: [
      { type: "value", gridIndex: 0, min: 0, nameTextStyle, name: "pages within 1 s, % of the capacity" },
      { type: "log", gridIndex: 1, min: 0.01, nameTextStyle, name: "p95 of pages, s (log)" },
    ],
    series: [...series(0, "goodShare", 100, 90), ...series(1, "p95", 0.001, 1)],
  });
  const svg = instance.renderToSVGString();
  instance.dispose();
  return svg;
}
