import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { drawDashboard, type Panel, type Run } from "./dashboard.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const text = readFileSync(join(root, "deploy/kubernetes/components/monitoring/dashboard.json"), "utf8");
const panels: Panel[] = JSON.parse(text).panels;

const labels = { route: "page", outcome: "queued", reason: "r<1>", upstream: "web", pod: "p1", category: "error" };
const values = Array.from({ length: 13 }, (_, at): [number, string] => [1_000 + at * 5, String(at)]);
const run: Run = {
  ...{ start: 1_000, end: 1_060, step: 5, faults: [{ name: "ingest down", start: 1_010, end: 1_030 }] },
  results: panels.map(({ targets }) => targets.map(() => [{ metric: labels, values }])),
};

test("every panel with its title, its legends, its unit and the faults", () => {
  const svg = drawDashboard(panels, run);
  for (const { title } of panels) expect(svg).toContain(`>${title}</text>`);
  for (const shown of ["queued r&lt;1&gt;", "lost: r&lt;1&gt;", "oldest", "12/s", "12 s", "1:00", "ingest down"])
    expect(svg).toContain(`>${shown}</text>`);
  expect(svg).not.toMatch(/NaN|<script|foreignObject|href=/);
});

test("a panel without data or with another unit is an error", () => {
  expect(() => drawDashboard(panels, { ...run, results: [] })).toThrow(`${panels[0]?.title}: no data`);
  const unit = panels.map((panel) => ({ ...panel, fieldConfig: { defaults: { unit: "ops" } } }));
  expect(() => drawDashboard(unit, run)).toThrow("the unit ops is not known");
});

test("a sample that is missing or no number is a gap", () => {
  const gap = values.map(([time, value], at): [number, string] => [time, at === 6 ? "NaN" : value]);
  const one = panels.slice(0, 1);
  const lines = (results: Run["results"]) =>
    drawDashboard(one, { ...run, faults: [], results }).match(
      /<path d="(M[^"]*)" fill="none"[^>]* stroke="#3274d9"/,
    )?.[1] ?? "";
  expect(lines([[[{ metric: {}, values }]]]).match(/M/g)).toHaveLength(1);
  expect(lines([[[{ metric: {}, values: gap }]]]).match(/M/g)).toHaveLength(2);
});

test("the picture in the documents has the dashboard's panels", () => {
  const picture = readFileSync(join(root, "deploy/monitoring/dashboard.svg"), "utf8");
  expect(panels.map(({ title }) => title).filter((title) => !picture.includes(`>${title}</text>`))).toEqual([]);
});
