import { junit } from "./junit.ts";
import { chart, report } from "./report.ts";
import type { Summary } from "./summary.ts";
import { text } from "./text.ts";

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
