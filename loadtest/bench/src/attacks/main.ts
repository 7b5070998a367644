/** Attacks the proxy as one client, and measures what another one notices: `run.sh attacks`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { docker } from "../docker.ts";
import { buildStackImages, images } from "../images.ts";
import { readChoice, wholeNumber } from "../options.ts";
import { output } from "../paths.ts";
import { assignCores, describeCores } from "../processor.ts";
import { Testbed } from "../testbed.ts";
import { type Attack, attacks } from "./cases.ts";
import { prepare, probe } from "./honest.ts";
import { ATTACKER_SHARES, origin, resources, startProxy, startShared } from "./stack.ts";
import { type Row, table } from "./table.ts";

const WARM_UP_S = 3;
const say = (text: string) => process.stderr.write(`${text}\n`);

async function main(): Promise<void> {
  const seconds = wholeNumber(process.env, "ATTACK_S", 15);
  const chosen = readChoice(process.env, Object.keys(attacks));
  const count = Number(await docker("info", "--format={{.NCPU}}"));
  const cores = assignCores(count);
  mkdirSync(output, { recursive: true });
  say("==> images");
  await buildStackImages();

  const testbed = new Testbed();
  const run = async (attack: Attack): Promise<Row> => {
    const file = await startProxy(testbed, cores, attack);
    const phase = (length: number) => probe(testbed, origin, file, length);
    await phase(WARM_UP_S);
    const before = await phase(seconds);
    const given = Object.entries({ HOST: "proxy", ...attack.attacker });
    await testbed.start("attacker", {
      ...{ image: images.tools, core: cores.load },
      settings: Object.fromEntries(given.map(([name, value]) => [name, value === "FILE" ? file : value])),
      switches: ["--ulimit=nofile=20000", ATTACKER_SHARES],
      command: ["node", "--disable-warning=ExperimentalWarning", "/bench/src/attacks/attacker.ts"],
    });
    const during = await phase(seconds);
    const got = await testbed.stop("attacker");
    const after = await phase(seconds);
    say(`    the attacker's requests: ${got.trim()}`);
    const { title, maxCostMs } = attack;
    const row = { title, ...(maxCostMs && { maxCostMs }), before, during, after, ...(await resources(testbed)) };
    for (const name of ["attacker", "proxy", "spool"]) await testbed.remove(name);
    return row;
  };
  for (const signal of ["SIGINT", "SIGTERM"])
    process.once(signal, () => void testbed.close().then(() => process.exit(130)));
  try {
    await startShared(testbed, cores);
    await prepare(testbed);
    const rows: Row[] = [];
    for (const name of chosen) {
      say(`==> ${name}`);
      rows.push(await run(attacks[name] as Attack));
      writeFileSync(`${output}/attacks.md`, `${table(rows)}\n`);
      writeFileSync(`${output}/attacks.json`, `${JSON.stringify({ cores: describeCores(count), seconds, rows })}\n`);
    }
    process.stdout.write(`${describeCores(count)}; ${seconds} s before, during and after.\n\n${table(rows)}\n`);
  } finally {
    await testbed.close();
  }
}

main().catch((error: Error) => {
  say(`culvert bench: ${error.message}`);
  process.exitCode = 1;
});
