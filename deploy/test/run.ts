import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { type Outcome, outputOf, root, run as runFile } from "./support/docker.ts";

/** Runs a command in the repository with these variables added; never throws on a non-zero exit. */
export function run([file = "", ...args]: string[], environment: Record<string, string> = {}): Promise<Outcome> {
  return runFile(file, args, { ...process.env, ...environment });
}

/** As `run`, but returns the output; throws with it on a non-zero exit. */
export const must = async (command: string[], environment?: Record<string, string>): Promise<string> =>
  outputOf(command, await run(command, environment));

/** Runs a command in a folder with these variables, and none of the tests' own settings. */
export function runApart(command: string[], settings: Record<string, string> = {}, cwd = root): Promise<Outcome> {
  const { PATH, HOME = "/root" } = process.env;
  const variables = Object.entries({ PATH, HOME, COMPOSE_ENV_FILES: "/dev/null", ...settings });
  return run(["env", "-i", `--chdir=${cwd}`, ...variables.map(([name, value]) => `${name}=${value}`), ...command]);
}

/** A folder that is removed after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "culvert-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}

export function temporary(name: string, text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), "culvert-")), name);
  writeFileSync(file, text);
  return file;
}

/** The setting that adds a compose file with these services. */
export const withServices = (services: string) => ({
  COMPOSE_FILE: `${process.env.COMPOSE_FILE}:${temporary("more.yml", `services: { ${services} }\n`)}`,
});

/** Copies what git has of these paths, changes included, to a folder: a clone of a part. */
export function copySources(folder: string, paths: string): Promise<string> {
  const copy = `mkdir -p "$0"; git ls-files -co --exclude-standard ${paths} | tar -cT - | tar -xC "$0"`;
  return must(["sh", "-euc", copy, folder]);
}

/** Clones another version of the repository to a folder. */
export async function cloneOf(commit: string, folder: string): Promise<void> {
  await must(["git", "clone", "--quiet", "--shared", root, folder]);
  await must(["git", "-C", folder, "checkout", "--quiet", commit]);
}

/** The PATH of a shell whose docker client is this script; `$client` in it is the real one. */
export function withDocker(script: string): { PATH: string } {
  const client = execFileSync("sh", ["-c", "command -v docker"], { encoding: "utf8" });
  const file = temporary("docker", `#!/bin/sh\nclient=${client}${script}\n`);
  chmodSync(file, 0o755);
  return { PATH: `${dirname(file)}:${process.env.PATH}` };
}

/** The PATH of a shell whose docker client takes `seconds` where a script gives it `from`. */
export const impatient = (from: number, seconds: number) =>
  withDocker(`for one; do shift; [ "$one" != ${from} ] || one=${seconds}; set -- "$@" "$one"; done; exec $client "$@"`);

/** The last line of an output, in which a script or a container names its error. */
export const lastLine = (output: string): string => output.trim().split("\n").at(-1) ?? "";
