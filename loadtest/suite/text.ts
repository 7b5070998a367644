import { shareOf } from "../lib/checks.ts";
import type { Example } from "./examples.ts";
import type { CheckResult, Duration, Result, Summary } from "./summary.ts";

/** What a result means, in the words of the first line. */
export const RESULTS: Record<Result, string> = {
  passed: "PASSED",
  integrity: "FAILED: integrity",
  availability: "FAILED: availability",
  incomplete: "FAILED: not everything was measured",
  limits: "FAILED: limits",
  regression: "FAILED: slower than the baseline",
};
export const MARKS = { passed: "✓", failed: "✗", "not measured": "?" };
export const COLUMNS = ["count", "timed out", "p50", "p95", "p99", "max"];

/** The lines that matter most: both results, what else went wrong, and what the run could not verify. */
export function headlines({ integrity, availability, unavailable, other, unverified, breakpoint }: Summary): string[] {
  const { broken, answered, detectable } = integrity;
  const seen = `a fault in ${Number(detectable.toPrecision(2))} % of requests would have been seen with 99.9 % probability`;
  const below = unavailable.map(({ kind, percent }) => `${kind} ${percent.toFixed(1)} %`).join(", ");
  // k6 has no locales.
  const grouped = String(answered).replace(/\B(?=(\d{3})+$)/g, ",");
  return [
    `integrity: ${broken} broken of ${grouped} answered (${seen})`,
    `availability: ${availability.toFixed(availability > 99.9 && availability < 100 ? 2 : 1)} %${below && `, below the limit: ${below}`}`,
    ...other,
    ...unverified.map((what) => `not verified: ${what}`),
    ...(breakpoint === undefined ? [] : [`a threshold was crossed at about ${breakpoint.toFixed(0)} iterations/s`]),
  ];
}

/** A failure in one line: the request, what was expected and came, the trace. */
export const exampleText = ({ at, text, traceId }: Example) =>
  `${at && `${at}: `}${text}${traceId && ` [trace ${traceId}]`}`;

/** A row's figures, in the order of COLUMNS. */
export const figures = ({ count, timedOut, p50, p95, p99, max }: Duration): string[] => [
  ...[count, timedOut].map(String),
  ...[p50, p95, p99, max].map((ms) => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`),
];

/** A row's limits, baseline and change, in a few words. */
export const comparison = ({ limit, former, change }: Duration): string =>
  [
    Object.entries(limit)
      .map(([key, ms]) => `${key} ${ms}`)
      .join(", ") || "none",
    former === undefined ? "" : `was ${former.toFixed(0)}`,
    change,
  ]
    .filter(Boolean)
    .join("; ");

export const isBad = ({ count, ok, change }: Duration): boolean => count === 0 || !ok || change === "REGRESSION";

/** The run in one line each: how much it did, and what it was compared with. */
export function facts({ load, seconds, disabled, baseline, commit, k6, time }: Summary): string[] {
  const rate = (count: number) => `${count} (${seconds > 0 ? (count / seconds).toFixed(1) : 0}/s)`;
  return [
    `${rate(load.iterations)} iterations, ${rate(load.requests)} requests, ${load.dropped} iterations dropped`,
    `k6 ${k6}, commit ${commit}, ${time}`,
    ...(baseline ? [`compared with ${baseline.time}, commit ${baseline.commit}`] : []),
    ...(disabled.length > 0 ? [`disabled: ${disabled.join(", ")}`] : []),
  ];
}

/** The summary as text: the results, then every check with its first failure, then the durations. */
export function text(summary: Summary): string {
  const { profile, purpose, target, seconds, load, checks, durations, unanswered } = summary;
  const right = (cells: string[]) => cells.map((cell) => cell.padStart(11)).join("");
  const lines = [
    "",
    `${RESULTS[summary.result]} · ${profile} (${purpose}) against ${target}, ${seconds.toFixed(0)} s`,
    ...headlines(summary).map((line) => `  ${line}`),
    ...unanswered.map((example) => `  not answered: ${exampleText(example)}`),
  ];
  if (load.iterations > 0)
    lines.push(
      ...["", `  ${"check".padEnd(66)}${"passed".padStart(8)}${"failed".padStart(8)}`, ...checks.flatMap(checkLines)],
      ...["", `  ${"response time".padEnd(26)}${right([...COLUMNS, "limits"])}`],
      ...durations.map(
        (row) => `${isBad(row) ? "✗" : "✓"} ${row.name.padEnd(26)}${right(figures(row))}   ${comparison(row)}`,
      ),
      ...["", ...facts(summary).map((fact) => `  ${fact}`)],
    );
  return `${lines.join("\n")}\n`;
}

function checkLines({ id, name, passed, failed, result, examples }: CheckResult): string[] {
  const line = `${MARKS[result]} ${name.padEnd(66)}${String(passed).padStart(8)}${String(failed).padStart(8)}`;
  if (result === "not measured") return [`${line}   not measured`];
  const shown = result === "failed" || shareOf(id) === 1 ? examples : [];
  return [line, ...shown.slice(0, 1).map((example) => `    first: ${exampleText(example)}`)];
}
