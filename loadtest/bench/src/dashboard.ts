import { LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, MarkAreaComponent, TitleComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

use([LineChart, GridComponent, LegendComponent, MarkAreaComponent, TitleComponent, SVGRenderer]);

/** What is read of a panel of Grafana: https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/ */
export interface Panel {
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  fieldConfig: { defaults: { unit: string; min?: number } };
  targets: { expr: string; legendFormat: string }[];
}

/** A matrix as Prometheus' API answers it: https://prometheus.io/docs/prometheus/latest/querying/api/#range-vectors */
export type Matrix = { metric: Record<string, string>; values: [time: number, value: string][] }[];

/** A run: `results` has a matrix for each target of each panel; times are seconds since 1970. */
export interface Run {
  start: number;
  end: number;
  step: number;
  faults: { name: string; start: number; end: number }[];
  results: Matrix[][];
}

const COLUMN = 48;
const ROW = 25;
const TOP = 12;
const COLOURS = ["#3274d9", "#e0752d", "#37872d", "#c4162a", "#8f3bb8", "#b28400", "#56a5a5", "#6e6e6e"];

/** Writes a number with at most one decimal, and thousands as k. */
const short = (value: number) =>
  value >= 1_000 ? `${Number((value / 1_000).toFixed(1))} k` : String(Number(value.toFixed(value < 1 ? 2 : 1)));
/** Grafana's units that the dashboard uses. */
const units: Record<string, (value: number) => string> = {
  reqps: (value) => `${short(value)}/s`,
  percentunit: (value) => `${short(value * 100)} %`,
  Bps: (value) => (value < 1_000 ? `${short(value)} B/s` : `${short(value / 1_000)} kB/s`),
  short,
  s: (value) => `${short(value)} s`,
};
const minutes = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.round(seconds) % 60).padStart(2, "0")}`;

/** Replaces {{label}} in a legend by the series' own; Grafana's name for a series without any is Value. */
const legend = (format: string, metric: Record<string, string>) =>
  format.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? "").trim() || "Value";

/** The points of a series since the start of the run, with a gap where it has none. */
function points(values: Matrix[number]["values"], { start, end, step }: Run): [number, number | null][] {
  const found = new Map(values.map(([time, value]) => [Math.round((time - start) / step), Number(value)]));
  return Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, at) => {
    const value = found.get(at) ?? Number.NaN;
    return [at * step, Number.isFinite(value) ? Number(value.toPrecision(4)) : null];
  });
}

/**
 * Draws the panels of a dashboard as SVG, as Grafana arranges them, with the faults of the run as bands. Throws with the title of a panel
 * without data or with a unit that is not known here.
 */
export function drawDashboard(panels: Panel[], run: Run): string {
  const width = 24 * COLUMN;
  const height = TOP + ROW * Math.max(...panels.map(({ gridPos: { y, h } }) => y + h));
  const all = panels.map((panel, index) => option(panel, index, run));
  const instance = init(null, null, { renderer: "svg", ssr: true, width, height });
  instance.setOption({
    animation: false,
    backgroundColor: "#fff",
    textStyle: { fontFamily: "sans-serif" },
    title: all.map(({ title }) => title),
    legend: all.map(({ legend }) => legend),
    grid: all.map(({ grid }) => grid),
    xAxis: all.map(({ xAxis }) => xAxis),
    yAxis: all.map(({ yAxis }) => yAxis),
    series: all.flatMap(({ series }) => series),
  });
  const svg = instance.renderToSVGString();
  instance.dispose();
  return svg;
}

function option({ title, gridPos, fieldConfig, targets }: Panel, index: number, run: Run) {
  const { unit, min } = fieldConfig.defaults;
  const formatter = units[unit];
  if (!formatter) throw new Error(`${title}: the unit ${unit} is not known`);
  const [left, top] = [gridPos.x * COLUMN + 12, TOP + gridPos.y * ROW];
  const [width, height] = [gridPos.w * COLUMN - 24, gridPos.h * ROW];
  const lines = targets.flatMap(({ legendFormat }, at) =>
    (run.results[index]?.[at] ?? []).map(({ metric, values }) => ({
      // Unique: legends of several panels share ECharts' names.
      name: `${index}:${legend(legendFormat, metric)}`,
      data: points(values, run),
    })),
  );
  if (lines.length === 0) throw new Error(`${title}: no data`);
  const axis = {
    gridIndex: index,
    axisLabel: { color: "#555", fontSize: 11 },
    splitLine: { lineStyle: { color: "#e8e8e8" } },
  };
  return {
    title: { text: title, left, top, textStyle: { fontSize: 14, color: "#222" } },
    legend: {
      ...{ left, top: top + height - 40, width, itemHeight: 8, itemWidth: 14, itemGap: 20 },
      ...{ icon: "roundRect", textStyle: { fontSize: 11, color: "#333" } },
      data: lines.map(({ name }) => name),
      formatter: (name: string) => name.slice(name.indexOf(":") + 1),
    },
    grid: { left: left + 52, top: top + 36, width: width - 60, height: height - 100 },
    xAxis: {
      ...axis,
      type: "value",
      min: 0,
      max: run.end - run.start,
      interval: 60,
      axisLabel: { ...axis.axisLabel, formatter: minutes },
    },
    yAxis: { ...axis, type: "value", min, splitNumber: 4, axisLabel: { ...axis.axisLabel, formatter } },
    series: lines.map(({ name, data }, at) => ({
      type: "line",
      name,
      data,
      xAxisIndex: index,
      yAxisIndex: index,
      showSymbol: false,
      lineStyle: { width: 1.5 },
      // Each panel begins with the first colour.
      color: COLOURS[at % COLOURS.length],
      ...(at === 0 && { markArea: bands(run) }),
    })),
  };
}

/** The faults as areas behind the lines. */
function bands({ start, faults }: Run) {
  const label = { position: "top", distance: 3, color: "#777", fontSize: 10 };
  return {
    silent: true,
    itemStyle: { color: "#c4162a", opacity: 0.07 },
    label,
    data: faults.map(({ name, ...fault }) => [{ name, xAxis: fault.start - start }, { xAxis: fault.end - start }]),
  };
}
