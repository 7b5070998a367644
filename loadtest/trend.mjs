// Keeps the last twenty results of a profile in OUT/history, and draws their trend into OUT/report.html: the p95 of each row of
// durations, oldest first. Node without dependencies; run.sh starts it after each run.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const KEEP = 20;
const [WIDTH, HEIGHT] = [260, 40];
const [, , out = "."] = process.argv;
const history = join(out, "history");
const read = (file) => JSON.parse(readFileSync(file, "utf8"));

mkdirSync(history, { recursive: true });
const { time } = read(join(out, "summary.json"));
copyFileSync(join(out, "summary.json"), join(history, `summary-${time.replace(/[:.]/g, "-")}.json`));
const files = readdirSync(history)
  .filter((name) => /^summary-.*\.json$/.test(name))
  .sort();
for (const old of files.slice(0, -KEEP)) rmSync(join(history, old));
const runs = files.slice(-KEEP).map((name) => read(join(history, name)));

/** A line of one figure over the runs; runs without it are left out. */
function line(values) {
  const top = Math.max(1, ...values.filter((value) => value !== undefined));
  const at = (value, run) =>
    `${(4 + ((WIDTH - 8) * run) / Math.max(1, values.length - 1)).toFixed(1)},${(HEIGHT - 4 - ((HEIGHT - 8) * value) / top).toFixed(1)}`;
  const points = values.flatMap((value, run) => (value === undefined ? [] : [at(value, run)]));
  const [x, y] = points.at(-1)?.split(",") ?? [0, 0];
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"><polyline points="${points.join(" ")}" fill="none" stroke="#2563c9" stroke-width="2"/><circle cx="${x}" cy="${y}" r="3" fill="#2563c9"/></svg>`;
}

const escapeHtml = (text) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
const names = [...new Set(runs.flatMap(({ durations }) => durations.map(({ name }) => name)))];
const rows = names.map((name) => {
  const values = runs.map(({ durations }) => durations.find((row) => row.name === name && row.count > 0)?.p95);
  const known = values.filter((value) => value !== undefined).map(Math.round);
  return `<tr><td>${escapeHtml(name)}</td><td>${line(values)}</td><td class="n">${known.at(-1) ?? "–"} ms</td><td class="n">${known.length ? `${Math.min(...known)}–${Math.max(...known)} ms` : "–"}</td></tr>`;
});
const table = `<h2>p95 of the last runs (${runs.length})</h2><table><tr><th>request</th><th>oldest to newest</th><th class="n">now</th><th class="n">range</th></tr>${rows.join("")}</table>`;
const report = join(out, "report.html");
writeFileSync(
  report,
  readFileSync(report, "utf8").replace("<!-- trend -->", () => table),
);
