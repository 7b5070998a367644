import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { attacks } from "./attacks.ts";
import { output } from "./docker.ts";
import { faults } from "./faults.ts";
import { buildImages } from "./images.ts";
import { type Options, readChoice, readOptions } from "./options.ts";
import { overload, pages } from "./pages.ts";
import { type Comparison, chart, markdown } from "./results.ts";
import { spools } from "./spools.ts";
import { tunnel } from "./tunnel.ts";

const comparisons: Record<string, (options: Options) => Promise<Comparison>> = {
  ...{ tunnel, spools, pages, overload, faults, attacks },
};

const say = (text: string) => process.stderr.write(`${text}\n`);

async function main(): Promise<void> {
  const options = readOptions(process.env);
  const chosen = readChoice(process.env, Object.keys(comparisons));
  const commit = process.env.BENCH_COMMIT ?? "unknown";
  mkdirSync(output, { recursive: true });
  say("==> images");
  await buildImages();
  for (const name of chosen) {
    say(`==> ${name}`);
    const load = () => loadavg()[0]?.toFixed(1);
    const before = load();
    const comparison = await comparisons[name]?.(options);
    if (!comparison) continue;
    const machine = `${cpus().length} cores, load average ${before} before and ${load()} after, commit ${commit}, ${new Date().toISOString()}`;
    const whole = `${markdown(comparison)}\n\n${machine}\n`;
    process.stdout.write(`\n${whole}\n`);
    writeFileSync(`${output}/${name}.md`, whole);
    writeFileSync(`${output}/${name}.json`, `${JSON.stringify({ ...comparison, machine, options }, null, 2)}\n`);
    writeFileSync(`${output}/${name}.svg`, chart(comparison));
  }
  say("==> tables (.md), charts (.svg) and figures (.json): .culvert/bench");
}

main().catch((error: Error) => {
  say(`culvert bench: ${error.message}`);
  process.exitCode = 1;
});
