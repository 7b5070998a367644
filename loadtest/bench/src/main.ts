import { mkdirSync, writeFileSync } from "node:fs";
import { Bench } from "./bench.ts";
import { assets } from "./comparisons/assets.ts";
import { flood } from "./comparisons/flood.ts";
import { http2 } from "./comparisons/http2.ts";
import { pages } from "./comparisons/pages.ts";
import { sink } from "./comparisons/sink.ts";
import { spool } from "./comparisons/spool.ts";
import { telemetry } from "./comparisons/telemetry.ts";
import { tunnel } from "./comparisons/tunnel.ts";
import { startAll } from "./contenders.ts";
import { docker } from "./docker.ts";
import { buildImages } from "./images.ts";
import { readChoice, readKnobs } from "./knobs.ts";
import { output } from "./places.ts";
import { assignCores, describeCores } from "./processor.ts";
import { type Comparison, markdown } from "./report.ts";
import { Stage } from "./stage.ts";

const comparisons: Record<string, (bench: Bench) => Promise<Comparison>> = {
  sink,
  tunnel,
  http2,
  spool,
  pages,
  telemetry,
  assets,
  flood,
};

const say = (text: string) => process.stderr.write(`${text}\n`);

/** Tells what went wrong; the run goes on where it can, and ends with status 1. */
function fail(message: string): undefined {
  say(`culvert bench: ${message}`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const knobs = readKnobs(process.env);
  const chosen = readChoice(process.env, Object.keys(comparisons));
  const cores = Number(await docker("info", "--format={{.NCPU}}"));
  const start = Date.now();
  const seconds = () => Math.round((Date.now() - start) / 1000);
  mkdirSync(output, { recursive: true });
  say("==> images");
  await buildImages();

  const stage = new Stage();
  for (const signal of ["SIGINT", "SIGTERM"])
    process.once(signal, () => void stage.close().then(() => process.exit(130)));
  try {
    say("==> containers");
    await startAll(stage, assignCores(cores), knobs.floodRate);
    const bench = new Bench(stage, knobs);
    const head = `# Culvert bench\n\n${describeCores(cores)}. ${knobs.rounds} rounds in turn, ${knobs.seconds} s a measurement; median (lowest – highest).`;
    const found: Comparison[] = [];
    process.stdout.write(`${head}\n`);
    for (const name of chosen) {
      say(`==> ${name} (${seconds()} s so far)`);
      const comparison = await comparisons[name]?.(bench).catch((error: Error) => fail(`${name}: ${error.message}`));
      if (!comparison) continue;
      found.push(comparison);
      process.stdout.write(`\n${markdown(comparison)}\n`);
      writeFileSync(`${output}/results.md`, `${[head, ...found.map(markdown)].join("\n\n")}\n`);
      writeFileSync(`${output}/results.json`, `${JSON.stringify({ cores, knobs, comparisons: found }, null, 2)}\n`);
    }
    say(`==> ${output}/results.md and results.json, after ${seconds()} s`);
  } finally {
    await stage.close();
  }
}

main().catch((error: Error) => fail(error.message));
