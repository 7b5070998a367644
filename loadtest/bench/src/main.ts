import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { attacks } from "./attacks.ts";
import { faults } from "./faults.ts";
import { overload } from "./overload.ts";
import { output, prepare } from "./stack.ts";
import { tunnel } from "./tunnel.ts";

/** The options of a run; docs/benchmarks.md explains them. */
export type Options = Record<"rounds" | "seconds" | "attackSeconds" | "faultSeconds", number>;

/** The results of one comparison, as a table. */
export interface Comparison {
  title: string;
  head: string[];
  rows: [name: string, ...cells: (number | string)[]][];
}

const all: Record<string, (options: Options) => Promise<Comparison>> = { tunnel, overload, faults, attacks };

function wholeNumber(name: string, fallback: number): number {
  const value = process.env[name] || String(fallback);
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value);
  throw new Error(`${name} '${value}' is not a whole number of 1 or more: use ${fallback}, or leave it out`);
}

/** A number with three significant digits, thousands separated. */
const figure = (value: number) =>
  value >= 1000 ? Math.round(value).toLocaleString("en-GB") : String(Number(value.toPrecision(3)));
const row = (cells: (number | string)[]) =>
  `| ${cells.map((cell) => (typeof cell === "number" ? figure(cell) : cell)).join(" | ")} |`;
const markdown = ({ title, head, rows }: Comparison): string =>
  `## ${title}\n\n${[head, head.map((_, at) => (at ? "--:" : "---")), ...rows].map(row).join("\n")}`;

async function main({ ONLY = "", BENCH_COMMIT = "unknown" }: NodeJS.ProcessEnv): Promise<void> {
  const seconds = { attackSeconds: wholeNumber("ATTACK_S", 10), faultSeconds: wholeNumber("FAULT_S", 15) };
  const options = { rounds: wholeNumber("ROUNDS", 3), seconds: wholeNumber("SECONDS", 3), ...seconds };
  const chosen = ONLY.split(/[\s,]+/).filter(Boolean);
  const unknown = chosen.find((name) => !(name in all));
  if (unknown) throw new Error(`ONLY '${unknown}' is unknown: choose among ${Object.keys(all).join(", ")}`);
  console.error("==> images");
  await prepare();
  for (const [name, compare] of Object.entries(all)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    console.error(`==> ${name}`);
    const load = () => loadavg()[0]?.toFixed(1);
    const before = load();
    const table = markdown(await compare(options));
    const machine = `${cpus().length} cores, load average ${before} before and ${load()} after, commit ${BENCH_COMMIT}, ${new Date().toISOString()}`;
    console.log(`\n${table}\n\n${machine}\n`);
    writeFileSync(`${output}/${name}.md`, `${table}\n\n${machine}\n`);
  }
}

main(process.env).catch((error: Error) => {
  console.error(`culvert bench: ${error.message}`);
  process.exitCode = 1;
});
