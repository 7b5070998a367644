import { chart } from "./chart.ts";
import type { Example } from "./examples.ts";
import type { CheckResult, Summary } from "./summary.ts";
import { COLUMNS, comparison, exampleText, facts, figures, headlines, isBad, MARKS, RESULTS, text } from "./text.ts";

const STYLE = `
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
  body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; } svg { max-width: 100%; }
  .bad { color: light-dark(#b3142b, #ff7b86); } .good { color: light-dark(#176b2c, #6fd08c); }
  table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #8884; }
  .n { text-align: right; white-space: nowrap; } p { margin: .25rem 0; font-size: .88rem; overflow-wrap: anywhere; }
`;

/** The report: one page without scripts or requests of its own. */
export function report(summary: Summary): string {
  const { profile, target, seconds, result, durations, unanswered, checks } = summary;
  const group = (title: string, of: CheckResult[]) =>
    of.length > 0 ? `<h2>${title}</h2><table>${of.map((check) => checkRow(check, summary)).join("")}</table>` : "";
  const rows = durations.map((row) => {
    const cells = figures(row).map((figure) => `<td class="n">${figure}</td>`);
    const state = isBad(row) ? ' class="bad"' : "";
    return `<tr><td>${escapeXml(row.name)}</td>${cells.join("")}<td${state}>${comparison(row)}</td></tr>`;
  });
  const columns = COLUMNS.map((name) => `<th class="n">${name}</th>`);
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>${RESULTS[result]} · ${profile}</title><style>${STYLE}</style></head><body>
<h1 class="${result === "passed" ? "good" : "bad"}">${RESULTS[result]}</h1>
<p>${profile} against ${escapeXml(target)}, ${seconds.toFixed(0)} s</p>
<ul>${headlines(summary)
    .map((line) => `<li>${escapeXml(line)}</li>`)
    .join("")}</ul>
${unanswered.length > 0 ? "<h2>Not answered</h2>" : ""}${unanswered.map((one) => exampleHtml(one, summary)).join("")}
${group(
  "Failed checks",
  checks.filter((check) => check.result !== "passed"),
)}
<h2>Response times</h2>${chart(summary)}
<table><tr><th>request</th>${columns.join("")}<th>limits (ms), baseline</th></tr>${rows.join("")}</table>
${group(
  "Passed checks",
  checks.filter((check) => check.result === "passed"),
)}
<!-- trend -->
<p>${facts(summary).map(escapeXml).join(" · ")}</p></body></html>
`;
}

function checkRow({ name, passed, failed, result, examples }: CheckResult, summary: Summary): string {
  const found = examples.map((example) => exampleHtml(example, summary)).join("");
  const mark = `<td class="${result === "passed" ? "good" : "bad"}">${MARKS[result]}</td>`;
  return `<tr>${mark}<td>${escapeXml(name)}${found}</td><td class="n">${passed} passed, ${failed} failed</td></tr>`;
}

function exampleHtml(example: Example, { traceUrl }: Summary): string {
  const link = traceUrl && example.traceId && escapeXml(traceUrl.replace("{trace_id}", example.traceId));
  return `<p>${escapeXml(exampleText(example))}${link && ` <a href="${link}">trace</a>`}</p>`;
}

/** The summary as JUnit XML: a test case for availability, each check and each row of durations, and for what else went wrong. */
export function junit(summary: Summary): string {
  const { profile, seconds, checks, durations, unavailable, other } = summary;
  const [, availability = ""] = headlines(summary);
  const cases: [name: string, failure: string][] = [
    ["availability", unavailable.length > 0 ? availability : ""],
    ...checks.map(({ name, passed, failed, result, examples: [first] }): [string, string] => [
      name,
      result === "failed"
        ? `${failed} of ${passed + failed}: ${first ? exampleText(first) : ""}`
        : result.replace("passed", ""),
    ]),
    ...durations.map((row): [string, string] => [
      `response time: ${row.name}`,
      isBad(row) ? `p95 and p99 are ${figures(row).slice(3, 5).join(", ")}; limits: ${comparison(row)}` : "",
    ]),
    ...other.map((problem): [string, string] => [`run: ${problem}`, problem]),
  ];
  const failures = cases.filter(([, failure]) => failure !== "");
  const lines = cases.map(([name, failure]) => {
    const message = failure && `<failure message="${escapeXml(failure)}"/>`;
    return `  <testcase classname="loadtest.${profile}" name="${escapeXml(name)}">${message}</testcase>`;
  });
  const counts = `tests="${cases.length}" failures="${failures.length}" errors="0" skipped="0" time="${seconds.toFixed(3)}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="culvert load test: ${profile}" ${counts}>
${lines.join("\n")}
</testsuite></testsuites>
`;
}

/** Escapes text for XML and HTML. Neither allows control characters, not even escaped. */
function escapeXml(text: string): string {
  return text.replace(/\p{Cc}/gu, " ").replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** The files for k6's `handleSummary`; without a folder only the text, on stdout. */
export function summaryFiles(summary: Summary, folder: string): Record<string, string> {
  const readable = text(summary);
  if (folder === "") return { stdout: readable };
  return {
    stdout: readable,
    [`${folder}/summary.txt`]: readable,
    [`${folder}/summary.json`]: `${JSON.stringify(summary, null, 2)}\n`,
    [`${folder}/junit.xml`]: junit(summary),
    [`${folder}/report.html`]: report(summary),
    [`${folder}/chart.svg`]: chart(summary),
  };
}
