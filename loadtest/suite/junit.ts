import type { Summary } from "./summary.ts";
import { exampleText, headlines } from "./text.ts";

/** The summary as JUnit XML: a test case for each check and row of durations, and for each of the run's other problems. */
export function junit(summary: Summary): string {
  const all = cases(summary);
  const failures = all.filter(({ failure }) => failure !== "").length;
  const suite = `name="culvert load test: ${summary.profile}" tests="${all.length}" failures="${failures}" errors="0" skipped="0" time="${summary.seconds.toFixed(3)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites><testsuite ${suite}>`,
    ...all.map(({ name, failure }) => {
      const head = `  <testcase classname="loadtest.${summary.profile}" name="${escapeXml(name)}"`;
      return failure === "" ? `${head}/>` : `${head}><failure message="${escapeXml(failure)}"/></testcase>`;
    }),
    "</testsuite></testsuites>",
    "",
  ].join("\n");
}

function cases(summary: Summary): { name: string; failure: string }[] {
  const [, availability = ""] = headlines(summary);
  return [
    { name: "availability", failure: summary.unavailable.length > 0 ? availability : "" },
    ...summary.checks.map(({ name, passed, failed, result, examples: [first] }) => {
      const failure =
        result === "failed" ? `${failed} of ${passed + failed}: ${first ? exampleText(first) : ""}` : result;
      return { name, failure: result === "passed" ? "" : failure };
    }),
    ...summary.durations.map(({ name, ok, change, p95, p99, limit, former }) => {
      const over = `p95 ${p95.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, limits ${JSON.stringify(limit)}`;
      const failure = !ok
        ? over
        : change === "regression"
          ? `p95 ${p95.toFixed(1)} ms, ${former?.toFixed(1)} ms before`
          : "";
      return { name: `response time: ${name}`, failure };
    }),
    ...summary.other.map((problem) => ({ name: `run: ${problem}`, failure: problem })),
  ];
}

/** Escapes text for XML and HTML. Neither allows control characters, not even escaped. */
export function escapeXml(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
  return text.replace(/\p{Cc}/gu, " ").replace(/[&<>"']/g, (char) => entities[char] ?? char);
}
