import { chart } from "./chart.ts";
import type { Summary } from "./summary.ts";
import { RESULTS, text } from "./text.ts";

const STYLE = `
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; } svg { max-width: 100%; }
  body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; } pre { overflow-x: auto; }
  .bad { color: light-dark(#b3142b, #ff7b86); } .good { color: light-dark(#176b2c, #6fd08c); }
`;

/** The report: one page without scripts or requests of its own. trend.mjs replaces its comment. */
function report(summary: Summary): string {
  const { profile, result, traceUrl } = summary;
  const linked = escapeHtml(text(summary)).replace(/\[trace ([0-9a-f]{32})\]/g, (whole, id) =>
    traceUrl ? `<a href="${escapeHtml(traceUrl.replace("{trace_id}", id))}">${whole}</a>` : whole,
  );
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>${RESULTS[result]} · ${profile}</title><style>${STYLE}</style></head><body>
<h1 class="${result === "passed" ? "good" : "bad"}">${RESULTS[result]}</h1>
${chart(summary)}
<pre>${linked}</pre>
<!-- trend -->
</body></html>
`;
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
