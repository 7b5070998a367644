import { mkdirSync, writeFileSync } from "node:fs";
import { Bench } from "./bench.ts";
import { chart } from "./chart.ts";
import { overload } from "./comparisons/overload.ts";
import { pages } from "./comparisons/pages.ts";
import { tunnel } from "./comparisons/tunnel.ts";
import { startAll } from "./contenders.ts";
import { docker } from "./docker.ts";
import { buildImages } from "./images.ts";
import { type Comparison, markdown } from "./markdown.ts";
import { readChoice, readOptions } from "./options.ts";
import { output } from "./paths.ts";
import { assignCores, describeCores } from "./processor.ts";
import { Testbed } from "./testbed.ts";

const comparisons: Record<string, (bench: Bench) => Promise<Comparison>> = { tunnel, pages, overload };

const say = (text: string) => process.stderr.write(`${text}\n`);

/** Reports a failure; the run continues if possible, and exits with status 1. */
function fail(message: string): undefined {
  say(`culvert bench: ${message}`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const options = readOptions(process.env);
  const chosen = readChoice(process.env, Object.keys(comparisons));
  const cores = Number(await docker("info", "--format={{.NCPU}}"));
  const start = Date.now();
  const seconds = () => Math.round((Date.now() - start) / 1000);
  mkdirSync(output, { recursive: true });
  say("==> images");
  await buildImages();

  const testbed = new Testbed();
  for (const signal of ["SIGINT", "SIGTERM"])
    process.once(signal, () => void testbed.close().then(() => process.exit(130)));
  try {
    say("==> containers");
    await startAll(testbed, assignCores(cores));
    const bench = new Bench(testbed, options);
    const head = `# Culvert bench\n\n${describeCores(cores)}. ${options.rounds} rounds in turn, ${options.seconds} s a measurement; median (lowest – highest).`;
    const found: (Comparison & { name: string })[] = [];
    process.stdout.write(`${head}\n`);
    for (const name of chosen) {
      say(`==> ${name} (${seconds()} s so far)`);
      const comparison = await comparisons[name]?.(bench).catch((error: Error) => fail(`${name}: ${error.message}`));
      if (!comparison) continue;
      found.push({ name, ...comparison });
      process.stdout.write(`\n${markdown(comparison)}\n`);
      writeFileSync(`${output}/results.md`, `${[head, ...found.map(markdown)].join("\n\n")}\n`);
      const results = { cores, options, comparisons: found };
      writeFileSync(`${output}/results.json`, `${JSON.stringify(results, null, 2)}\n`);
      writeFileSync(`${output}/${name}.svg`, `${chart(comparison)}\n`);
    }
    say(`==> ${output}/results.md, results.json and a chart of each comparison (tunnel.svg …), after ${seconds()} s`);
  } finally {
    await testbed.close();
  }
}

main().catch((error: Error) => fail(error.message));
