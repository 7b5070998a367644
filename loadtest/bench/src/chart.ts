import { readFileSync, writeFileSync } from "node:fs";
import { BarChart, CustomChart, type CustomSeriesOption } from "echarts/charts";
import { GridComponent, TitleComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { type Comparison, figure } from "./markdown.ts";
import { overloadChart } from "./overload-chart.ts";
import { spread } from "./statistics.ts";

use([BarChart, CustomChart, GridComponent, TitleComponent, SVGRenderer]);

/** The part of results.json that is drawn. */
export interface Results {
  comparisons: (Pick<Comparison, "title" | "samples"> & { name: string })[];
}

const BAR_HEIGHT = 36;
const WIDTH = 760;
const TOP = 64;
const BOTTOM = 36;

/** Draws the line from the lowest to the highest round with a cap at each end, and the median as a number to its right. */
const drawSpread: CustomSeriesOption["renderItem"] = (_, api) => {
  const [left = 0, y = 0] = api.coord([api.value(1), api.value(0)]);
  const [right = 0] = api.coord([api.value(2), api.value(0)]);
  const line = (x1: number, y1: number, x2: number, y2: number) =>
    ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: "#333", lineWidth: 1.5 } }) as const;
  const cap = (x: number) => line(x, y - 5, x, y + 5);
  const style = { text: figure(Number(api.value(3))), fill: "#000", verticalAlign: "middle" } as const;
  return {
    type: "group",
    children: [line(left, y, right, y), cap(left), cap(right), { type: "text", x: right + 8, y, style }],
  };
};

/**
 * Draws a comparison as SVG: the requests per second of processor time of each contender, the median as a bar, with the lowest and
 * highest round. Returns the SVG document; throws if a contender has no samples.
 */
export function chart({ title, samples }: Pick<Comparison, "title" | "samples">): string {
  const names = Object.keys(samples);
  const spreads = Object.values(samples).map((list) => spread(list.map(({ perCpuSecond }) => perCpuSecond)));
  const height = TOP + BOTTOM + BAR_HEIGHT * names.length;
  const instance = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height });
  const subtext = "requests per second of processor time: median, lowest and highest round";
  instance.setOption({
    animation: false,
    // GitHub shows the README on a dark background, too.
    backgroundColor: "#fff",
    textStyle: { fontFamily: "sans-serif" },
    title: { text: title, subtext, left: 12, top: 8, textStyle: { fontSize: 15 } },
    grid: { left: 24, right: 64, top: TOP, bottom: 12, outerBoundsMode: "same" },
    xAxis: { type: "value", min: 0, axisLabel: { formatter: figure } },
    yAxis: { type: "category", data: names, inverse: true, axisTick: { show: false } },
    series: [
      {
        type: "bar",
        silent: true,
        data: spreads.map(({ median }) => median),
        barWidth: "60%",
        itemStyle: { color: "#6c8ebf" },
      },
      {
        type: "custom",
        silent: true,
        renderItem: drawSpread,
        encode: { x: [1, 2], y: 0 },
        data: spreads.map(({ low, high, median }, at) => [at, low, high, median]),
        z: 3,
      },
    ],
  });
  const svg = instance.renderToSVGString();
  instance.dispose();
  return svg;
}

/** Reads results.json in this folder and writes a chart of each comparison beside it; returns the files. */
export function writeCharts(folder: string): string[] {
  const { comparisons }: Results = JSON.parse(readFileSync(`${folder}/results.json`, "utf8"));
  return comparisons.map((comparison) => {
    const file = `${folder}/${comparison.name}.svg`;
    writeFileSync(file, `${comparison.name === "overload" ? overloadChart(comparison) : chart(comparison)}\n`);
    return file;
  });
}
