import { failureText } from "../lib/failures.ts";
import { type Duration, isUnmeasured, type Summary } from "./summary.ts";

/** The result, which never says PASSED alone if something was not looked at. */
function headline({ result, unverified, checks, durations }: Summary): string {
  const parts = [
    ...unverified.map(({ what }) => what),
    ...checks.filter((check) => check.result === "not measured").map(({ name }) => name),
    ...durations.filter(isUnmeasured).map(({ name }) => `time of ${name}`),
  ];
  const open = parts.join(", ");
  if (result === "incomplete") return `NOT VERIFIED: ${open || "anything"}`;
  if (result !== "passed") return `FAILED: ${result}`;
  return open === "" ? "PASSED" : `PASSED, but not verified: ${open}`;
}

interface Line {
  name: string;
  cells: (string | number)[];
  problems: string[];
  isOpen?: boolean;
}

function tables(summary: Summary) {
  const { checks, durations, unavailable, unanswered, warnings, other, unverified } = summary;
  const lost = unavailable.map(({ kind, percent }) => `${kind} ${percent.toFixed(1)} %`);
  const results: Line[] = [
    {
      name: `availability: ${summary.wanted} % of each kind`,
      cells: [],
      problems: [...lost, ...unanswered.map((failure) => `not answered: ${failureText(failure)}`)],
    },
    { name: "load and connections", cells: [], problems: other },
    ...unverified.map(({ what, why }) => ({
      name: `not verified: ${what}`,
      cells: [],
      problems: [why],
      isOpen: summary.settings.target === "",
    })),
    { name: "warnings", cells: [], problems: [...new Set(warnings.map(failureText))], isOpen: true },
  ];
  const judged: Line[] = checks.map(({ name, passed, failed, result, failures }) => ({
    name,
    cells: [passed, failed],
    problems: [
      ...(result === "not measured" ? [result] : []),
      ...(result === "failed" && failures.length === 0 ? ["its failures are in k6's log"] : []),
      ...(result === "passed" ? [] : failures.map(failureText)),
    ],
  }));
  return { results, judged, times: durations.map(timeOf) };
}

function timeOf(row: Duration): Line {
  const { name, count, p50, p95, p99, max, firstByte, tcp, tls, limit, ok } = row;
  const limits = Object.entries(limit).map(([key, ms]) => `${key} ${ms}`);
  const figures = [p50, p95, p99, max, firstByte, tcp, tls].map((time) => `${time.toFixed(time < 10 ? 1 : 0)} ms`);
  const problem = isUnmeasured(row) ? ["not measured"] : ok ? [] : ["over its limits"];
  return { name, cells: [count, ...figures, `  ${limits.join(", ") || "none"}`], problems: problem };
}

export function text(summary: Summary): string {
  const { profile, target, seconds, load, integrity, availability, breakpoint, disabled, k6 } = summary;
  const { results, judged, times } = tables(summary);
  const columns = (name: string, cells: (string | number)[], width: number) =>
    name.padEnd(width > 8 ? 26 : 74) + cells.map((cell) => `${cell}`.padStart(width)).join("");
  const row = ({ name, cells, problems, isOpen }: Line, width: number) => [
    `${isOpen ? "?" : problems.length > 0 ? "✗" : "✓"} ${columns(name, cells, width)}`.trimEnd(),
    ...problems.map((problem) => `    ${problem}`),
  ];
  const rate = (count: number) => `${count} (${seconds > 0 ? (count / seconds).toFixed(1) : 0}/s)`;
  return `${[
    `\n${headline(summary)} · ${profile} against ${target}, ${seconds.toFixed(0)} s`,
    `  integrity: ${integrity.broken} broken of ${integrity.answered} answered`,
    `  availability: ${availability.toFixed(availability > 99.9 && availability < 100 ? 2 : 1)} %`,
    ...(breakpoint === undefined ? [] : [`  a threshold was crossed at about ${breakpoint.toFixed(0)} iterations/s`]),
    ...results.flatMap((line) => (line.problems.length > 0 ? row(line, 0) : [])),
    `\n  ${columns("check", ["passed", "failed"], 8)}`,
    ...judged.flatMap((line) => row(line, 8)),
    `\n  ${columns("response time", ["count", "p50", "p95", "p99", "max", "byte 1 p95", "TCP p95", "TLS p95", "  limits"], 11)}`,
    ...times.flatMap((line) => row(line, 11)),
    ...(profile === "smoke" ? ["\n  smoke does not judge times, connections and drift: PROFILE=average does"] : []),
    `\n  ${rate(load.iterations)} iterations, ${rate(load.requests)} requests, ${load.dropped} iterations dropped`,
    `  k6 ${k6}, commit ${summary.commit}, ${summary.time}`,
    ...(disabled.length > 0 ? [`  disabled: ${disabled.join(", ")}`] : []),
  ].join("\n")}\n`;
}

/** The files of a run that has no result. */
export function notRunFiles(profile: string, problem: string, folder: string, exit = 108): Record<string, string> {
  const stdout = `NOT RUN · ${profile}: ${problem}\n`;
  const json = `${JSON.stringify({ profile, result: "not run", exit, problem }, null, 2)}\n`;
  return folder === "" ? { stdout } : { stdout, [`${folder}/summary.txt`]: stdout, [`${folder}/summary.json`]: json };
}

/** The files for k6's `handleSummary`; without a folder only the text, on stdout. */
export function summaryFiles(summary: Summary, folder: string): Record<string, string> {
  const stdout = text(summary);
  if (folder === "") return { stdout };
  return {
    stdout,
    [`${folder}/summary.txt`]: stdout,
    [`${folder}/summary.json`]: `${JSON.stringify(summary, null, 2)}\n`,
  };
}
