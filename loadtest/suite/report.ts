import { SCHEMA } from "./plan.ts";
import type { Summary } from "./summary.ts";
import { COLUMNS, comparison, exampleText, figures, headline, headlines, isBad, text } from "./text.ts";

type Files = Record<string, string>;

const STYLE = `
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; } body { max-width: 80rem; margin: 2rem auto; padding: 0 1rem; }
  .bad { color: light-dark(#b3142b, #ff7b86); } .good { color: light-dark(#176b2c, #6fd08c); } li { overflow-wrap: anywhere; }
  table { border-collapse: collapse; } td, th { padding: 0.1rem 0.7rem; text-align: right; } td:first-child, th:first-child { text-align: left; }
`;

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

function page(title: string, good: boolean, body: string): string {
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>${escaped(title)}</title><style>${STYLE}</style></head><body>
<h1 class="${good ? "good" : "bad"}">${escaped(title)}</h1>
${body}
</body></html>
`;
}

const list = (items: string[]): string => `<ul>${items.map((item) => `<li>${item}</li>`).join("\n")}</ul>`;

function table(head: string[], rows: { bad: boolean; cells: (string | number)[] }[]): string {
  const row = (cells: (string | number)[], tag: string) =>
    cells.map((cell) => `<${tag}>${escaped(`${cell}`)}</${tag}>`).join("");
  const lines = rows.map(({ bad, cells }) => `<tr${bad ? ' class="bad"' : ""}>${row(cells, "td")}</tr>`);
  return `<table><tr>${row(head, "th")}</tr>\n${lines.join("\n")}</table>`;
}

/** The report: one page without scripts or requests of its own, failures first. */
function report(summary: Summary): string {
  const { profile, target, checks, durations, unanswered, traceUrl, time, commit, k6, disabled } = summary;
  const linked = (words: string) =>
    escaped(words).replace(/\[trace ([0-9a-f]{32})\]/g, (whole, id) =>
      traceUrl ? `<a href="${escaped(traceUrl.replace("{trace_id}", id))}">${whole}</a>` : whole,
    );
  const failures = checks
    .filter(({ result }) => result === "failed")
    .map(
      ({ name, failed, examples }) =>
        `<b>${escaped(name)}</b>: ${failed} failed${list(examples.map((one) => linked(exampleText(one))))}`,
    );
  const lost = unanswered.map((one) => `not answered: ${linked(exampleText(one))}`);
  const rows = checks.map(({ name, passed, failed, result }) => ({
    bad: result !== "passed",
    cells: [name, passed, failed],
  }));
  const times = durations.map((one) => ({ bad: isBad(one), cells: [one.name, ...figures(one), comparison(one)] }));
  const title = `${headline(summary)} · ${profile}`;
  const body = `<p>${escaped(target)}</p>${list(headlines(summary).map(escaped))}
${failures.length + lost.length > 0 ? `<h2 class="bad">Failures</h2>${list([...failures, ...lost])}` : ""}
<h2>Checks</h2>${table(["check", "passed", "failed"], rows)}
<h2>Response times</h2>${table(["response time", ...COLUMNS], times)}
<p>Over time: <a href="dashboard.html">k6's dashboard</a> (of a run longer than 30 s). k6 ${k6}, commit ${commit}, ${time}. Disabled: ${escaped(disabled.join(", ") || "nothing")}.</p>`;
  return page(title, summary.result === "passed", body);
}

/** The checks as JUnit's XML, which CI shows one by one. */
function junit(name: string, seconds: number, cases: { name: string; failure?: string; skipped?: string }[]): string {
  const lines = cases.map((one) => {
    const how = (tag: string, message: string) =>
      `<${tag} message="${escaped(message.slice(0, 300))}">${escaped(message)}</${tag}>`;
    const inside = one.failure ? how("failure", one.failure) : one.skipped ? how("skipped", one.skipped) : "";
    return `<testcase classname="loadtest.${name}" name="${escaped(one.name)}">${inside}</testcase>`;
  });
  const count = (key: "failure" | "skipped") => cases.filter((one) => one[key]).length;
  const counts = `tests="${cases.length}" failures="${count("failure")}" skipped="${count("skipped")}" time="${seconds}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="loadtest ${name}" ${counts}>\n${lines.join("\n")}\n</testsuite>\n`;
}

function casesOf({ checks, durations, unavailable, unanswered, other, unverified, settings, limits }: Summary) {
  const examples = (all: Parameters<typeof exampleText>[0][]) => all.map(exampleText).join("\n");
  const open = unverified.map(({ what, why }) => ({
    name: `verified: ${what}`,
    [settings.target ? "failure" : "skipped"]: why,
  }));
  const lost = unavailable.map(({ kind, percent }) => `${kind} ${percent.toFixed(1)} %`).join(", ");
  return [
    {
      name: `availability: ${limits.availability} % of each kind`,
      failure: lost && `${lost}\n${examples(unanswered)}`,
    },
    { name: "load: as planned", failure: other.join("\n") },
    ...checks.map(({ name, failed, result, examples: all }) => ({
      name,
      failure: result === "failed" ? `${failed} failed: ${examples(all)}` : result === "passed" ? "" : "not measured",
    })),
    ...durations.map((one) => ({
      name: `response time: ${one.name}`,
      failure: isBad(one)
        ? `${one.count} samples, p95 ${one.p95} ms, p99 ${one.p99} ms; limits: ${comparison(one)}`
        : "",
    })),
    ...open,
  ];
}

/** The files for k6's `handleSummary`; without a folder only the text, on stdout. */
function files(folder: string, stdout: string, all: Files): Files {
  const named = Object.entries({ "summary.txt": stdout, ...all }).map(([name, content]) => [
    `${folder}/${name}`,
    content,
  ]);
  return folder === "" ? { stdout } : { stdout, ...Object.fromEntries(named) };
}

/** Those of a run that ended. */
export function summaryFiles(summary: Summary, folder: string): Files {
  return files(folder, text(summary), {
    "summary.json": `${JSON.stringify(summary, null, 2)}\n`,
    "junit.xml": junit(summary.profile, summary.seconds, casesOf(summary)),
    "report.html": report(summary),
  });
}

/** Those of a run that a problem stopped before the load. */
export function notRun({ OUT = "", PROFILE = "smoke" }: Record<string, string | undefined>, problem: string): Files {
  return files(OUT, `NOT RUN · ${PROFILE}: ${problem}\n`, {
    "summary.json": `${JSON.stringify({ schema: SCHEMA, profile: PROFILE, result: "not run", exit: 108, problem }, null, 2)}\n`,
    "junit.xml": junit(PROFILE, 0, [{ name: "before the load", failure: problem }]),
    "report.html": page(`NOT RUN · ${PROFILE}`, false, `<p>${escaped(problem)}</p>`),
  });
}
