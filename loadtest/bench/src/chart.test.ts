import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chart, type Results, writeCharts } from "./chart.ts";
import type { Sample } from "./measure.ts";

const sample = (perCpuSecond: number) => ({ perCpuSecond }) as Sample;
const samples = {
  proxy: [sample(900), sample(1000), sample(1200)],
  "tunnel-route, TLS": [sample(250), sample(240), sample(260)],
};

const matches = (svg: string, pattern: RegExp) =>
  Array.from(svg.matchAll(pattern), (match) => match.slice(1).map(Number));
/** The widths of the bars. */
const bars = (svg: string) => matches(svg, /<path d="M\S+ \S+l(\S+) 0[^>]*fill="#6c8ebf"/g).flat();
/** From the lowest to the highest round: start and end of the horizontal lines. */
const ranges = (svg: string) =>
  matches(svg, /<path d="M(\S+) (\S+)L(\S+) (\S+)"[^>]*stroke="#333"/g).flatMap(([x1 = 0, y1, x2 = 0, y2]) =>
    y1 === y2 ? [[x1, x2] as const] : [],
  );

test("a bar for each contender's median, and a line from its lowest to its highest round, all on one scale", () => {
  const svg = chart({ title: "Envelopes", samples });
  const [proxy = 0, tunnelRoute = 0] = bars(svg);
  expect(proxy / tunnelRoute).toBeCloseTo(1000 / 250, 1);
  const scale = proxy / 1000;
  const widths = ranges(svg).map(([left, right]) => (right - left) / scale);
  expect(widths).toHaveLength(2);
  expect(widths[0]).toBeCloseTo(300, -1);
  expect(widths[1]).toBeCloseTo(20, -1);
});

test("an SVG document with title, names and medians, and nothing that needs a script", () => {
  const svg = chart({ title: "<Envelopes> & more", samples });
  expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"[\s\S]*<\/svg>$/);
  for (const text of ["&lt;Envelopes&gt; &amp; more", "proxy", "tunnel-route, TLS", "1,000", "250"])
    expect(svg).toContain(`>${text}</text>`);
  expect(svg).not.toMatch(/<script|foreignObject|href=/);
});

test("a contender without samples is an error, not an empty bar", () => {
  expect(() => chart({ title: "T", samples: { proxy: [] } })).toThrow("no values");
});

test("each comparison of results.json becomes a file of its name", () => {
  const folder = mkdtempSync(join(tmpdir(), "culvert-chart-"));
  try {
    const comparisons = ["tunnel", "http2"].map((name) => ({ name, title: `Title of ${name}`, samples }));
    writeFileSync(`${folder}/results.json`, JSON.stringify({ comparisons } satisfies Results));
    expect(writeCharts(folder)).toEqual([`${folder}/tunnel.svg`, `${folder}/http2.svg`]);
    expect(readFileSync(`${folder}/http2.svg`, "utf8")).toContain(">Title of http2</text>");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
