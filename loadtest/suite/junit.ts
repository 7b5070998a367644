import type { Summary } from "./summary.ts";

interface Case {
  name: string;
  failure?: string;
}

/** The summary as JUnit XML: one test case for each check and each duration limit. */
export function junit(summary: Summary): string {
  const all = cases(summary);
  const failures = all.filter(({ failure }) => failure !== undefined).length;
  const suite = `name="culvert load test: ${summary.profile}" tests="${all.length}" failures="${failures}" errors="0" skipped="0" time="${summary.seconds.toFixed(3)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites><testsuite ${suite}>`,
    ...all.map(({ name, failure }) => {
      const head = `  <testcase classname="loadtest.${summary.profile}" name="${escapeXml(name)}"`;
      return failure === undefined ? `${head}/>` : `${head}><failure message="${escapeXml(failure)}"/></testcase>`;
    }),
    "</testsuite></testsuites>",
    "",
  ].join("\n");
}

function cases({ checks, durations, other }: Summary): Case[] {
  return [
    ...checks.map(({ name, passed, failed, result, example }) => {
      if (result === "passed") return { name };
      const trace = example?.traceId ? ` [trace ${example.traceId}]` : "";
      return {
        name,
        failure: result === "failed" ? `${failed} of ${passed + failed}: ${example?.text ?? ""}${trace}` : result,
      };
    }),
    ...durations.map(({ name, count, p95, limit, ok }) => {
      const failure = count === 0 ? "not measured" : `p95 ${p95.toFixed(1)} ms, limit ${limit} ms`;
      return { name: `duration: ${name}`, ...(ok ? {} : { failure }) };
    }),
    ...other.map((problem) => ({ name: `run: ${problem}`, failure: problem })),
  ];
}

/** XML does not allow control characters, not even escaped. */
function escapeXml(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
  return text.replace(/\p{Cc}/gu, " ").replace(/[&<>"']/g, (char) => names[char] ?? char);
}
