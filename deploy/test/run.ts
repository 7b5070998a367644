import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Outcome, root, run as runFile } from "./support/docker.ts";

/** Runs a command in the repository with these variables added to the test's own; never throws on a non-zero exit. */
export function run([file = "", ...args]: string[], environment: Record<string, string> = {}): Promise<Outcome> {
  return runFile(file, args, { ...process.env, ...environment });
}

/** Runs a command as `run` does and returns its output; throws an error with the output on a non-zero exit. */
export async function must(command: string[], environment?: Record<string, string>): Promise<string> {
  const { code, output } = await run(command, environment);
  if (code !== 0) throw new Error(`${command.join(" ")}: ${output}`);
  return output.trim();
}

/** Runs a command in a folder with these variables, and none of the tests' own settings. */
export function runApart(command: string[], settings: Record<string, string> = {}, cwd = root): Promise<Outcome> {
  const { PATH, HOME = "/root" } = process.env;
  const variables = Object.entries({ PATH, HOME, COMPOSE_ENV_FILES: "/dev/null", ...settings });
  return run(["env", "-i", `--chdir=${cwd}`, ...variables.map(([name, value]) => `${name}=${value}`), ...command]);
}

/** The PATH of a shell whose docker client is this script; `$client` in it is the real one. */
export function withDocker(script: string): { PATH: string } {
  const bin = mkdtempSync(join(tmpdir(), "culvert-client-"));
  const client = execFileSync("sh", ["-c", "command -v docker"], { encoding: "utf8" });
  writeFileSync(join(bin, "docker"), `#!/bin/sh\nclient=${client}${script}\n`, { mode: 0o755 });
  return { PATH: `${bin}:${process.env.PATH}` };
}

/** The last line of an output, in which a script or a container names its error. */
export function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}
