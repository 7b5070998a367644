import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, vi } from "vitest";
import { type Outcome, outputOf, root, run as runFile } from "./support/docker.ts";

/** Never throws on a non-zero exit. */
export function run([file = "", ...args]: string[], environment: Record<string, string> = {}): Promise<Outcome> {
  return runFile(file, args, { ...process.env, ...environment });
}

/** Returns the output; throws with it on a non-zero exit. */
export const must = async (command: string[], environment?: Record<string, string>): Promise<string> =>
  outputOf(command, await run(command, environment));

/** Runs a command in a folder with these variables, and none of the tests' own settings. */
export function runApart(command: string[], settings: Record<string, string> = {}, cwd = root): Promise<Outcome> {
  const { PATH, HOME = "/root" } = process.env;
  const variables = Object.entries({ PATH, HOME, COMPOSE_ENV_FILES: "/dev/null", ...settings });
  return run(["env", "-i", `--chdir=${cwd}`, ...variables.map(([name, value]) => `${name}=${value}`), ...command]);
}

/** Runs commands of compose with these settings; returns their output. */
export const composeWith =
  (settings?: Record<string, string>) =>
  (...command: string[]) =>
    must(["docker", "compose", ...command], settings);
export const compose = composeWith();

/** `up` is `make up`. */
export const host = (script: string, settings?: Record<string, string>) =>
  run(["sh", `deploy/host/${script}.sh`], settings);

/** Runs `make doctor`; vitest sets BASE_URL for its own purposes. */
export const doctor = (settings: Record<string, string> = {}, ...options: string[]) =>
  run(["sh", "deploy/checks/host/doctor.sh", ...options], { BASE_URL: "", ...settings });

export const takeDown = (settings?: Record<string, string>) =>
  run(["docker", "compose", "--profile", "*", "down", "--remove-orphans", "--volumes", "-t", "0"], settings);

/** Has the tests of a file run in a stack of their own, and removes it. Its ports are `above` those of the tests' stack. */
export function useStack(project: string, above: number, settings: Record<string, string | undefined>): void {
  beforeAll(() => {
    for (const port of ["HTTPS_PORT", "HTTP_PORT", "RECORDER_PORT", "UPSTREAM_PORT"])
      vi.stubEnv(port, String(Number(process.env[port]) + above));
    for (const [setting, value] of Object.entries({ ...settings, COMPOSE_PROJECT_NAME: project }))
      vi.stubEnv(setting, value);
  });
  // Runs after the next one: other files of this process have the environment that they began with.
  afterAll(() => void vi.unstubAllEnvs());
  afterAll(async () => {
    await takeDown();
    // compose removes the network of its current WEB_IMAGE only.
    const networks = `docker network ls --quiet --filter=label=com.docker.compose.project=${project}`;
    await run(["sh", "-c", `${networks} | xargs -r docker network rm`]);
  });
}

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

/** The PATH of a shell whose docker client is this script; `$client` in it is the real one. */
export function withDocker(script: string): { PATH: string } {
  const client = execFileSync("sh", ["-c", "command -v docker"], { encoding: "utf8" });
  const file = temporary("docker", `#!/bin/sh\nclient=${client}${script}\n`);
  chmodSync(file, 0o755);
  return { PATH: `${dirname(file)}:${process.env.PATH}` };
}

/** The PATH of a shell whose docker client takes `seconds` where a script gives it `from`. */
export const impatient = (from: number, seconds: number) =>
  withDocker(`for arg; do shift; [ "$arg" != ${from} ] || arg=${seconds}; set -- "$@" "$arg"; done; exec $client "$@"`);

/** The last line of an output, in which a script or a container names its error. */
export const lastLine = (output: string): string => output.trim().split("\n").at(-1) ?? "";
