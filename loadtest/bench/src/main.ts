import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { attacks } from "./attacks.ts";
import { output } from "./docker.ts";
import { faults } from "./faults.ts";
import { buildImages } from "./images.ts";
import { type Options, readOptions } from "./options.ts";
import { overload } from "./overload.ts";
import { type Comparison, markdown } from "./results.ts";
import { tunnel } from "./tunnel.ts";

const all: Record<string, (options: Options) => Promise<Comparison>> = { tunnel, overload, faults, attacks };

async function main({ ONLY = "", BENCH_COMMIT = "unknown" }: NodeJS.ProcessEnv): Promise<void> {
  const options = readOptions(process.env);
  const chosen = ONLY.split(/[\s,]+/).filter(Boolean);
  const unknown = chosen.find((one) => !(one in all));
  if (unknown) throw new Error(`ONLY '${unknown}' is unknown: choose among ${Object.keys(all).join(", ")}`);
  mkdirSync(output, { recursive: true });
  console.error("==> images");
  await buildImages();
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
