import type { Example } from "../lib/examples.ts";
import { chart } from "./chart.ts";
import type { Summary } from "./summary.ts";
import { exampleText, headlines, RESULTS, tables, text } from "./text.ts";

const STYLE = `
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; } svg { max-width: 100%; }
  body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; } p { overflow-wrap: anywhere; } pre { overflow-x: auto; }
  .bad { color: light-dark(#b3142b, #ff7b86); } .good { color: light-dark(#176b2c, #6fd08c); }
`;

/** The report: one page without scripts or requests of its own. */
function report(summary: Summary): string {
  const { profile, target, seconds, result, unanswered, checks } = summary;
  const failed = checks.filter((check) => check.result === "failed");
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>${RESULTS[result]} · ${profile}</title><style>${STYLE}</style></head><body>
<h1 class="${result === "passed" ? "good" : "bad"}">${RESULTS[result]}</h1>
<p>${profile} against ${escapeHtml(target)}, ${seconds.toFixed(0)} s</p>
<ul>${headlines(summary)
    .map((line) => `<li>${escapeHtml(line)}</li>`)
    .join("")}</ul>
${unanswered.length > 0 ? "<h2>Not answered</h2>" : ""}${unanswered.map((one) => exampleHtml(one, summary)).join("")}
${failed.map(({ name, examples }) => `<h2 class="bad">${escapeHtml(name)}</h2>${examples.map((one) => exampleHtml(one, summary)).join("")}`).join("")}
<h2>Response times and checks</h2>${chart(summary)}
<pre>${escapeHtml(tables(summary).join("\n"))}</pre>
<!-- trend -->
</body></html>
`;
}

function exampleHtml(example: Example, { traceUrl }: Summary): string {
  const link = traceUrl && example.traceId && escapeHtml(traceUrl.replace("{trace_id}", example.traceId));
  return `<p>${escapeHtml(exampleText(example))}${link && ` <a href="${link}">trace</a>`}</p>`;
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** The files for k6's `handleSummary`; without a folder only the text, on stdout. */
export function summaryFiles(summary: Summary, folder: string): Record<string, string> {
  const readable = text(summary);
  if (folder === "") return { stdout: readable };
  return {
    stdout: readable,
    [`${folder}/summary.txt`]: readable,
    [`${folder}/summary.json`]: `${JSON.stringify(summary, null, 2)}\n`,
    [`${folder}/report.html`]: report(summary),
    [`${folder}/chart.svg`]: chart(summary),
  };
}
