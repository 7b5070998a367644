import type { Example } from "../lib/examples.ts";
import type { Duration, Result, Summary } from "./summary.ts";

/** What a result means, in the words of the first line. */
export const RESULTS: Record<Result, string> = {
  passed: "PASSED",
  integrity: "FAILED: integrity",
  availability: "FAILED: availability",
  incomplete: "NOT VERIFIED",
  limits: "FAILED: limits",
  regression: "FAILED: slower than the baseline",
};
/** The result in one line, which never says PASSED alone if something was not looked at. */
export function headline({ result, unverified, checks, durations }: Summary): string {
  const open = [
    ...unverified.map(({ what }) => what),
    ...checks.filter((one) => one.result === "not measured").map(({ name }) => name),
    ...durations.filter(({ count, name }) => count === 0 && name !== "delivery").map(({ name }) => `time of ${name}`),
  ];
  if (result === "incomplete") return `NOT VERIFIED: ${open.join(", ") || "anything"}`;
  return result === "passed" && open.length > 0 ? `PASSED, but not verified: ${open.join(", ")}` : RESULTS[result];
}

const MARKS = { passed: "✓", failed: "✗", "not measured": "?" };
export const COLUMNS = ["count", "timed out", "p50", "p95", "p99", "max", "limits"];

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
    ...unverified.map(({ what, why }) => `not verified: ${what}: ${why}`),
    ...(breakpoint === undefined ? [] : [`a threshold was crossed at about ${breakpoint.toFixed(0)} iterations/s`]),
  ];
}

/** A failure in one line: the request, what was expected and came, the trace. */
export const exampleText = ({ at, text, traceId }: Example) =>
  `${at && `${at}: `}${text}${traceId && ` [trace ${traceId}]`}`;

/** The summary as text: the results, the failures, then the tables. */
export function text(summary: Summary): string {
  const { profile, purpose, target, seconds, load, unanswered } = summary;
  const lines = [
    "",
    `${headline(summary)} · ${profile} (${purpose}) against ${target}, ${seconds.toFixed(0)} s`,
    ...headlines(summary).map((line) => `  ${line}`),
    ...unanswered.map((example) => `  not answered: ${exampleText(example)}`),
    ...(load.iterations > 0 ? ["", ...tables(summary)] : []),
  ];
  return `${lines.join("\n")}\n`;
}

/** Every check with up to three failures, every row of durations, and how much the run did. */
function tables({ checks, durations, load, seconds, disabled, baseline, commit, k6, time }: Summary): string[] {
  const right = (cells: (string | number)[], width = 11) => cells.map((cell) => String(cell).padStart(width)).join("");
  const rate = (count: number) => `${count} (${seconds > 0 ? (count / seconds).toFixed(1) : 0}/s)`;
  const lines = [
    `  ${"check".padEnd(66)}${right(["passed", "failed"], 8)}`,
    ...checks.flatMap(({ name, passed, failed, result, examples }) => [
      `${MARKS[result]} ${name.padEnd(66)}${right([passed, failed], 8)}${result === "not measured" ? "   not measured" : ""}`,
      ...(result === "failed" ? examples.map((example) => `    ${exampleText(example)}`) : []),
    ]),
    "",
    `  ${"response time".padEnd(26)}${right(COLUMNS)}`,
    ...durations.map(
      (row) => `${isBad(row) ? "✗" : "✓"} ${row.name.padEnd(26)}${right(figures(row))}   ${comparison(row)}`,
    ),
    "",
    `  ${rate(load.iterations)} iterations, ${rate(load.requests)} requests, ${load.dropped} iterations dropped`,
    `  k6 ${k6}, commit ${commit}, ${time}`,
  ];
  if (baseline) lines.push(`  compared with ${baseline.time}, commit ${baseline.commit}`);
  if (disabled.length > 0) lines.push(`  disabled: ${disabled.join(", ")}`);
  return lines;
}

export const figures = ({ count, timedOut, p50, p95, p99, max }: Duration) => [
  ...[count, timedOut].map(String),
  ...[p50, p95, p99, max].map((ms) => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`),
];

/** A row's limits, baseline and change, in a few words. */
export function comparison({ limit, former, change }: Duration): string {
  const limits = Object.entries(limit).map(([key, ms]) => `${key} ${ms}`);
  const compared = former === undefined ? "" : `was ${former.toFixed(0)}`;
  return [limits.join(", ") || "none", compared, change].filter(Boolean).join("; ");
}

export const isBad = ({ name, count, ok, change }: Duration): boolean =>
  (count === 0 && name !== "delivery") || !ok || change === "REGRESSION";
