import { PROFILES } from "./profiles.ts";
import type { CheckResult, DurationResult, Summary } from "./summary.ts";

/** The summary as text: the result, then every check with its first failure example, then the durations. */
export function text(summary: Summary): string {
  const { profile, target, seconds, load, checks, durations, other, unproven, disabled } = summary;
  const head = [
    "",
    `${summary.passed ? "PASSED" : "FAILED"}  ${profile} (${PROFILES[profile].purpose}) against ${target}, ${seconds.toFixed(0)} s`,
    ...other.map((problem) => `  ! ${problem}`),
    ...unproven.map((assumption) => `  ? not verified: ${assumption}`),
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
    `  ${"duration".padEnd(26)}${["count", "median", "p95", "p99", "limit p95"].map((head) => head.padStart(12)).join("")}`,
    ...durations.map(durationLine),
    "",
    `  ${load.iterations} iterations (${rate(load.iterations, seconds)}/s), ${load.requests} requests (${rate(load.requests, seconds)}/s), ${load.dropped} iterations dropped`,
    `  ${load.tracesReceived} new trace ids received, ${load.tracesSent} sent`,
  ];
  if (disabled.length > 0) lines.push(`  disabled: ${disabled.join(", ")}`);
  return `${lines.join("\n")}\n`;
}

const MARKS = { passed: "✓", failed: "✗", "not measured": "?" };

function checkLines({ name, passed, failed, result, example }: CheckResult): string[] {
  const line = `${MARKS[result]} ${name.padEnd(66)}${String(passed).padStart(8)}${String(failed).padStart(8)}`;
  if (result === "not measured") return [`${line}   not measured`];
  if (!example) return [line];
  return [line, `    first: ${example.text}${example.traceId ? ` [trace ${example.traceId}]` : ""}`];
}

function durationLine({ name, count, med, p95, p99, limit, ok }: DurationResult): string {
  const cells = [String(count), ...[med, p95, p99].map((ms) => `${ms.toFixed(1)} ms`), `${limit} ms`];
  return `${ok ? "✓" : "✗"} ${name.padEnd(26)}${cells.map((cell) => cell.padStart(12)).join("")}`;
}

function rate(count: number, seconds: number): string {
  return seconds > 0 ? (count / seconds).toFixed(1) : "0";
}
