#!/usr/bin/env node
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { inspect } from "./app.js";
import { UsageError } from "./change.js";
import { check, format } from "./check.js";
import { diff } from "./diff.js";
import { describe, type Plan, plan, write } from "./init.js";
import { inspectMachine } from "./machine.js";

const USAGE = `Usage: npx @culvert/nextjs <command>; init and check in the folder of your Next app

  init     connects the app to Culvert: shows each change, asks, then writes
             --dry-run  shows the changes only
             --yes      writes without asking
  check    says what is missing
             --json     as one JSON document
  doctor   says what is wrong with a deployment, from outside: doctor https://app.example.com
             --json     as one JSON document
             PAGE=/path, TUNNEL_PATH and SENTRY_DSN in the environment: as make doctor has them`;

/** Shows what `init` would do, asks and does it. Returns the exit status: 1 while something is left to do by hand. */
async function init(options: { "dry-run"?: boolean; yes?: boolean }): Promise<number> {
  const todo = plan(process.cwd(), await inspectMachine(process.cwd()));
  const count = todo.changes.length + Number(todo.tarball !== undefined);
  console.log(describe(todo.app));
  for (const change of todo.changes) console.log(`\n${diff(change)}`);
  if (todo.tarball) console.log(`\nnew file: ${todo.tarball}\n… @culvert/nextjs, which is not on npm`);
  if (!options["dry-run"] && count > 0) {
    if (options.yes || (await confirm(count))) write(todo);
    else return 1;
  }
  if (count === 0) console.log("\nNothing to change.");
  console.log(`\n${next(todo)}`);
  return todo.byHand.length > 0 ? 1 : 0;
}

/** What is left to the user. */
function next({ byHand, commands, addresses }: Plan): string {
  const steps = byHand.map(({ file, problem, fix }) => `  ${file}: ${problem}\n    ${fix}\n`);
  return [
    steps.length > 0 ? `Left to do by hand, before anything else:\n${steps.join("")}\nThen:` : "Next:",
    ...commands.map((command) => `  ${command}`),
    `The app is then at ${addresses.app}, its errors and traces at ${addresses.ingest}`,
  ].join("\n");
}

async function confirm(count: number): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UsageError("no terminal to ask on: --yes writes the changes, --dry-run shows them");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`\nWrite ${count === 1 ? "this change" : `these ${count} changes`}? [y/N] `);
  terminal.close();
  return /^y(?:es)?$/i.test(answer.trim());
}

async function main(): Promise<number> {
  const flag = { type: "boolean" } as const;
  const options = { "dry-run": flag, yes: flag, json: flag, help: flag };
  const { positionals, values } = parseArgs({ allowPositionals: true, options });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  switch (positionals[0]) {
    case "init":
      return init(values);
    case "check": {
      const results = check(inspect(process.cwd()));
      console.log(format(results, values.json));
      return results.some(({ state }) => state === "failed") ? 1 : 0;
    }
    case "doctor": {
      // Compiled from deploy/checks when the package is packed: what web's image builds from does not have that folder.
      const checks = await import(new URL("../checks/outside/doctor.js", import.meta.url).href);
      await checks.checkAddress(positionals[1] ?? "");
      return Number(process.exitCode);
    }
    default:
      console.error(USAGE);
      return 2;
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  const isKnown =
    error instanceof UsageError ||
    // Errors of the file system, such as EACCES, and of parseArgs.
    (error instanceof Error && "code" in error && /^E[A-Z]+$|^ERR_PARSE_ARGS/.test(String(error.code)));
  if (!isKnown) throw error;
  console.error(`culvert: ${(error as Error).message}`);
  process.exitCode = 1;
}
