import { expect, test } from "vitest";
import type { Sample } from "./measure.ts";
import { lines, overloadChart } from "./overload-chart.ts";

const sample = (goodShare: number, p95: number) => ({ goodShare, p95 }) as unknown as Sample;
const samples = {
  "web, 1 ×": [sample(0.9, 800), sample(0.7, 1000), sample(0.8, 900)],
  "proxy, shedding, 1 ×": [sample(0.95, 700)],
  "web, 0.5 ×": [sample(0.5, 100)],
  "web, 3 ×": [sample(0.1, 9000)],
  "proxy, shedding, 3 ×": [sample(0.92, 750)],
};

test("a line for each contender: the median at each offered load", () => {
  expect(lines(samples, "p95")).toEqual({
    web: [
      [1, 900],
      [0.5, 100],
      [3, 9000],
    ],
    "proxy, shedding": [
      [1, 700],
      [3, 750],
    ],
  });
});

test("a sample whose name has no load is rejected", () => {
  expect(() => lines({ web: [sample(1, 1)] }, "p95")).toThrow("'web' is not a contender and its load");
});

test("an SVG document with both contenders, and nothing that needs a script", () => {
  const svg = overloadChart({ title: "Overload", samples });
  for (const text of ["Overload", "web", "proxy, shedding"]) expect(svg).toContain(`>${text}</text>`);
  // Two figures of each contender.
  for (const colour of ["#999", "#d79b00"]) {
    const drawn = svg.match(
      new RegExp(`<path d="M[^"]+" fill="none" pointer-events="visible" stroke="${colour}" stroke-width="2.5"`, "g"),
    );
    expect(drawn).toHaveLength(2);
  }
  expect(svg).not.toMatch(/<script|foreignObject|href=/);
});
