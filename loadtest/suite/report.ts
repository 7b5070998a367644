import type { Example } from "./examples.ts";
import { escapeXml } from "./junit.ts";
import type { CheckResult, DurationResult, Summary } from "./summary.ts";
import { comparison, headlines, MARKS, milliseconds, RESULTS } from "./text.ts";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [720, 240, 64, 28, 34];

/** The run's pages over time as an SVG of its own, for a pull request: median, p95, and a mark where requests were not answered. */
export function chart(summary: Summary): string {
  const { timeline, seconds } = summary;
  const top = niceMaximum(Math.max(1, ...timeline.map(({ p95 }) => p95)));
  const x = (second: number) => LEFT + ((WIDTH - LEFT - 12) * second) / Math.max(1, seconds);
  const y = (ms: number) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * ms) / top;
  const line = (key: "p50" | "p95", style: string) => {
    const points = timeline
      .filter(({ count }) => count > 0)
      .map((at) => `${x(at.second).toFixed(1)},${y(at[key]).toFixed(1)}`);
    return `<polyline points="${points.join(" ")}" fill="none" ${style}/>`;
  };
  const label = (at: number, from: number, words: string, anchor: string) =>
    `<text x="${at}" y="${from}" text-anchor="${anchor}">${words}</text>`;
  const ticks = [0, top / 2, top].map(
    (ms) =>
      `<line x1="${LEFT}" x2="${WIDTH - 12}" y1="${y(ms)}" y2="${y(ms)}" stroke="#8886"/>${label(LEFT - 6, y(ms) + 4, `${ms} ms`, "end")}`,
  );
  const times = [0, seconds / 2, seconds].map((second) =>
    label(x(second), HEIGHT - 8, `${second.toFixed(0)} s`, second === seconds ? "end" : "middle"),
  );
  const gaps = timeline
    .filter(({ answered }) => answered < 100)
    .map(
      ({ second, answered }) =>
        `<circle cx="${x(second)}" cy="${y(0)}" r="5" fill="#c2293b"><title>${(100 - answered).toFixed(1)} % not answered</title></circle>`,
    );
  const words = `Page response time during ${escapeXml(summary.profile)}: ${RESULTS[summary.result]}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${words}" font-family="system-ui, sans-serif" font-size="12" fill="#777">`,
    `<text x="${LEFT}" y="18">Pages: median (blue), p95 (orange)${gaps.length > 0 ? ", not answered (red)" : ""} · ${RESULTS[summary.result]}</text>`,
    ...ticks,
    ...times,
    line("p95", 'stroke="#d9730d" stroke-width="2"'),
    line("p50", 'stroke="#2563c9" stroke-width="2"'),
    ...gaps,
    "</svg>",
    "",
  ].join("\n");
}

/** The next of 1, 2, 5, 10, 20 … */
function niceMaximum(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10);
}

const STYLE = `
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
  body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { margin: 0; } h1.bad, .bad { color: light-dark(#b3142b, #ff7b86); } h1.good, .good { color: light-dark(#176b2c, #6fd08c); }
  h2 { margin: 2rem 0 .5rem; font-size: 1.15rem; } ul.lead { padding-left: 1.2rem; } svg { max-width: 100%; }
  table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; }
  td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
  td p { margin: .25rem 0; font-size: .88rem; overflow-wrap: anywhere; } footer { margin-top: 2rem; color: #888; font-size: .88rem; }
`;

/** The report: one page without scripts or requests of its own. */
export function report(summary: Summary): string {
  const { profile, target, time, commit, k6, seconds, other, unverified, disabled, baseline, load } = summary;
  const lead = [...headlines(summary), ...other, ...unverified.map((what) => `not verified: ${what}`)];
  const failed = summary.checks.filter(({ result }) => result !== "passed");
  const passed = summary.checks.filter(({ result }) => result === "passed");
  const facts = [
    `${load.iterations} iterations, ${load.requests} requests, ${load.dropped} dropped`,
    `k6 ${k6}`,
    `commit ${commit}`,
    time,
  ];
  if (disabled.length > 0) facts.push(`disabled: ${disabled.join(", ")}`);
  if (baseline) facts.push(`compared with ${baseline.time}, commit ${baseline.commit}`);
  const columns = ["count", "timed out", "p50", "p95", "p99", "max"]
    .map((name) => `<th class="n">${name}</th>`)
    .join("");
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>${RESULTS[summary.result]} · ${profile}</title><style>${STYLE}</style></head><body>
<h1 class="${summary.result === "passed" ? "good" : "bad"}">${RESULTS[summary.result]}</h1>
<p>${profile} against ${escapeXml(target)}, ${seconds.toFixed(0)} s</p>
<ul class="lead">${lead.map((line) => `<li>${escapeXml(line)}</li>`).join("")}</ul>
${summary.unanswered.length > 0 ? `<h2>Not answered</h2>${summary.unanswered.map((one) => exampleHtml(one, summary)).join("")}` : ""}
${failed.length > 0 ? `<h2>Failed checks</h2>${checkTable(failed, summary)}` : ""}
<h2>Response times</h2>
${chart(summary)}
<table><tr><th>request</th>${columns}<th>limits (ms), baseline</th></tr>${summary.durations.map(durationRow).join("")}</table>
<h2>Passed checks</h2>${checkTable(passed, summary)}
<!-- trend -->
<footer>${facts.map(escapeXml).join(" · ")}</footer></body></html>
`;
}

function checkTable(checks: CheckResult[], summary: Summary): string {
  const rows = checks.map(({ name, passed, failed, result, examples }) => {
    const found = examples.map((example) => exampleHtml(example, summary)).join("");
    const cells = `<td class="n">${passed}</td><td class="n">${failed}</td>`;
    return `<tr><td class="${result === "passed" ? "good" : "bad"}">${MARKS[result]}</td><td>${escapeXml(name)}${found}</td>${cells}</tr>`;
  });
  return `<table><tr><th></th><th>check</th><th class="n">passed</th><th class="n">failed</th></tr>${rows.join("")}</table>`;
}

function exampleHtml({ at, text, traceId }: Example, { traceUrl }: Summary): string {
  const link =
    traceUrl && traceId
      ? `<a href="${escapeXml(traceUrl.replace("{trace_id}", traceId))}">trace ${traceId}</a>`
      : escapeXml(traceId && `trace ${traceId}`);
  return `<p>${escapeXml(at && `${at}: `)}${escapeXml(text)} ${link}</p>`;
}

function durationRow(row: DurationResult): string {
  const bad = !row.ok || row.change === "regression";
  const cells = [row.p50, row.p95, row.p99, row.max].map((ms) => `<td class="n">${milliseconds(ms)} ms</td>`).join("");
  const state = bad ? ' class="bad"' : row.change ? ' class="good"' : "";
  return `<tr><td>${escapeXml(row.name)}</td><td class="n">${row.count}</td><td class="n">${row.timedOut}</td>${cells}<td${state}>${comparison(row)}</td></tr>`;
}
