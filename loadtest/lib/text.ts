import { PROFILES } from "./stages.ts";
import type { CheckResult, SpeedResult, Summary } from "./summary.ts";

/** The summary for people: verdict first, then what was checked, what failed and with which example. */
export function text(summary: Summary): string {
  const { profile, target, seconds, load, checks, speed, other, unproven, notChecked } = summary;
  const head = [
    "",
    `${summary.passed ? "PASSED" : "FAILED"}  ${profile} (${PROFILES[profile].purpose}) against ${target}, ${seconds.toFixed(0)} s`,
    ...other.map((problem) => `  ! ${problem}`),
    ...unproven.map((what) => `  ? not proven: ${what}`),
  ];
  if (summary.brokeAt !== undefined) head.push(`  a limit was crossed at about ${summary.brokeAt.toFixed(0)} visits/s`);
  if (load.visits === 0) return `${head.join("\n")}\n`;
  const lines = [
    ...head,
    "",
    `  ${"check".padEnd(66)}${"passed".padStart(8)}${"failed".padStart(8)}`,
    ...checks.flatMap(checkLines),
    "",
    `  ${"speed".padEnd(26)}${["count", "median", "p95", "p99", "limit p95"].map((head) => head.padStart(12)).join("")}`,
    ...speed.map(speedLine),
    "",
    `  ${load.visits} visits (${rate(load.visits, seconds)}/s), ${load.requests} requests (${rate(load.requests, seconds)}/s), ${load.dropped} visits dropped`,
    `  ${load.tracesGiven} trace ids given to newcomers, ${load.tracesSent} sent along by callers`,
  ];
  if (notChecked.length > 0) lines.push(`  switched off: ${notChecked.join(", ")}`);
  return `${lines.join("\n")}\n`;
}

const MARKS = { passed: "✓", failed: "✗", "not measured": "?" };

function checkLines({ name, passed, failed, verdict, example }: CheckResult): string[] {
  const line = `${MARKS[verdict]} ${name.padEnd(66)}${String(passed).padStart(8)}${String(failed).padStart(8)}`;
  if (verdict === "not measured") return [`${line}   not measured`];
  if (!example) return [line];
  return [line, `    first: ${example.text}${example.traceId ? ` [trace ${example.traceId}]` : ""}`];
}

function speedLine({ name, count, med, p95, p99, limit, ok }: SpeedResult): string {
  const cells = [String(count), ...[med, p95, p99].map((ms) => `${ms.toFixed(1)} ms`), `${limit} ms`];
  return `${ok ? "✓" : "✗"} ${name.padEnd(26)}${cells.map((cell) => cell.padStart(12)).join("")}`;
}

function rate(count: number, seconds: number): string {
  return seconds > 0 ? (count / seconds).toFixed(1) : "0";
}
