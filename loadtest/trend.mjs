// Keeps the last twenty results of a profile in OUT/history, and draws their trend into OUT/report.html: the p95 of each row of
// durations, oldest first. Node without dependencies; run.sh starts it after each run.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const KEEP = 20;
const [, , out = "."] = process.argv;
const history = `${out}/history`;
const read = (file) => JSON.parse(readFileSync(file, "utf8"));

mkdirSync(history, { recursive: true });
const { time } = read(`${out}/summary.json`);
copyFileSync(`${out}/summary.json`, `${history}/summary-${time.replace(/[:.]/g, "-")}.json`);
const files = readdirSync(history).sort();
for (const old of files.slice(0, -KEEP)) rmSync(`${history}/${old}`);
const runs = files.slice(-KEEP).map((name) => read(`${history}/${name}`).durations);

const escapeHtml = (text) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
const rows = [...new Set(runs.flat().map(({ name }) => name))].map((name) => {
  const values = runs.flatMap((run) => run.filter((row) => row.name === name && row.count > 0).map(({ p95 }) => p95));
  const points = values.map((value, at) => `${4 + at * 13},${36 - (32 * value) / Math.max(1, ...values)}`);
  const svg = `<svg width="260" height="40"><polyline points="${points.join(" ")}" fill="none" stroke="#2563c9" stroke-width="2"/></svg>`;
  const [least, now, most] = [Math.min(...values), values.at(-1) ?? 0, Math.max(...values)].map(Math.round);
  return `<tr><td>${escapeHtml(name)}</td><td>${svg}</td><td>${now} ms, ${least}–${most} ms</td></tr>`;
});
const table = `<h2>p95 of the last runs (${runs.length})</h2><table><tr><th>request</th><th>oldest to newest</th><th>now, range</th></tr>${rows.join("")}</table>`;
const report = readFileSync(`${out}/report.html`, "utf8");
writeFileSync(
  `${out}/report.html`,
  report.replace("<!-- trend -->", () => table),
);
