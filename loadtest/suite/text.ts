import { shareOf } from "../lib/checks.ts";
import type { Example } from "./examples.ts";
import { PROFILES } from "./profiles.ts";
import type { CheckResult, DurationResult, Summary } from "./summary.ts";

/** What a result means, in the words of the first lines. */
export const RESULTS: Record<Summary["result"], string> = {
  passed: "PASSED",
  integrity: "FAILED: integrity",
  availability: "FAILED: availability",
  incomplete: "FAILED: not everything was measured",
  limits: "FAILED: limits",
  regression: "FAILED: slower than the baseline",
};

/** The two results of a run in one line each. */
export function headlines({ integrity, availability, unavailable }: Summary): string[] {
  const { broken, answered, detectable } = integrity;
  const seen = `a fault in ${Number(detectable.toPrecision(2))} % of requests would have been seen with 99.9 % probability`;
  const below = unavailable.map(({ kind, percent }) => `${kind} ${percent.toFixed(1)} %`).join(", ");
  return [
    `integrity: ${broken} broken of ${grouped(answered)} answered (${seen})`,
    `availability: ${availability.toFixed(availability > 99.9 && availability < 100 ? 2 : 1)} %${below && `, below the limit: ${below}`}`,
  ];
}

/** The summary as text: the results, then every check with its first failure, then the durations. */
export function text(summary: Summary): string {
  const { profile, target, seconds, load, checks, durations, other, unverified, disabled, baseline } = summary;
  const head = [
    "",
    `${RESULTS[summary.result]} · ${profile} (${PROFILES[profile].purpose}) against ${target}, ${seconds.toFixed(0)} s`,
    ...headlines(summary).map((line) => `  ${line}`),
    ...other.map((problem) => `  ! ${problem}`),
    ...unverified.map((what) => `  ? not verified: ${what}`),
    ...summary.unanswered.map((example) => `  not answered: ${exampleText(example)}`),
  ];
  if (summary.breakpoint !== undefined)
    head.push(`  a threshold was crossed at about ${summary.breakpoint.toFixed(0)} iterations/s`);
  if (load.iterations === 0) return `${head.join("\n")}\n`;
  const lines = [
    ...head,
    "",
    `  ${"check".padEnd(66)}${"passed".padStart(8)}${"failed".padStart(8)}`,
    ...checks.flatMap(checkLines),
    "",
    `  ${"response time".padEnd(26)}${["count", "timed out", "p50", "p95", "p99", "max", "limits"].map((cell) => cell.padStart(11)).join("")}`,
    ...durations.map(durationLine),
    "",
    `  ${load.iterations} iterations (${rate(load.iterations, seconds)}/s), ${load.requests} requests (${rate(load.requests, seconds)}/s), ${load.dropped} iterations dropped`,
    `  ${load.tracesReceived} new trace ids received, ${load.tracesSent} sent`,
  ];
  if (baseline) lines.push(`  compared with ${baseline.time}, commit ${baseline.commit}`);
  if (disabled.length > 0) lines.push(`  disabled: ${disabled.join(", ")}`);
  return `${lines.join("\n")}\n`;
}

/** A failure in one line: the request, what was expected and came, the trace. */
export const exampleText = ({ at, text, traceId }: Example) =>
  `${at && `${at}: `}${text}${traceId && ` [trace ${traceId}]`}`;

export const MARKS = { passed: "✓", failed: "✗", "not measured": "?" };

function checkLines({ id, name, passed, failed, result, examples }: CheckResult): string[] {
  const line = `${MARKS[result]} ${name.padEnd(66)}${String(passed).padStart(8)}${String(failed).padStart(8)}`;
  if (result === "not measured") return [`${line}   not measured`];
  const shown = result === "failed" || shareOf(id) === 1 ? examples : [];
  return [line, ...shown.slice(0, 1).map((example) => `    first: ${exampleText(example)}`)];
}

/** A duration's limits, baseline and change, in a few words. */
export function comparison({ limit, former, change }: DurationResult): string {
  const limits = Object.entries(limit).map(([key, ms]) => `${key} ${ms}`);
  return [limits.join(", ") || "none", former === undefined ? "" : `was ${former.toFixed(0)}`, change?.toUpperCase()]
    .filter(Boolean)
    .join("; ");
}

export const milliseconds = (ms: number) => (ms < 10 ? ms.toFixed(1) : ms.toFixed(0));

function durationLine(row: DurationResult): string {
  const mark = row.count === 0 ? "?" : row.ok && row.change !== "regression" ? "✓" : "✗";
  const times = [row.p50, row.p95, row.p99, row.max].map((ms) => `${milliseconds(ms)} ms`);
  const cells = [String(row.count), String(row.timedOut), ...times].map((cell) => cell.padStart(11)).join("");
  return `${mark} ${row.name.padEnd(26)}${cells}   ${comparison(row)}`;
}

const rate = (count: number, seconds: number) => (seconds > 0 ? (count / seconds).toFixed(1) : "0");

/** With commas between thousands; k6 has no locales. */
const grouped = (count: number) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
