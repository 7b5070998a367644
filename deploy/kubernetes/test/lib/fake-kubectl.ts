import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubernetes } from "./paths.ts";

/** Shell commands of a fake kubectl by the pattern of its command line; the first match wins. */
export type Answers = [pattern: string, command: string][];

/** Runs verify.sh with a fake kubectl of these answers; any other command exits with 1, as for an object that does not exist. */
export function verify(
  answers: Answers,
  namespace = "culvert",
  env: NodeJS.ProcessEnv = {},
): { status: number | null; lines: string[] } {
  const folder = mkdtempSync(join(tmpdir(), "culvert-kubectl-"));
  try {
    const cases = answers.map(([pattern, command]) => `  ${pattern}) ${command} ;;`);
    writeFileSync(
      join(folder, "kubectl"),
      `#!/bin/sh\nline="$*"
case "$line" in\n${cases.join("\n")}\n  *) exit 1 ;;\nesac\n`,
    );
    chmodSync(join(folder, "kubectl"), 0o755);
    execFileSync("sh", ["-n", join(folder, "kubectl")]);
    const { status, stdout, stderr } = spawnSync("sh", [`${kubernetes}/verify.sh`, namespace], {
      encoding: "utf8",
      env: { ...process.env, PATH: `${folder}:${process.env.PATH}`, ...env },
    });
    return { status, lines: `${stdout}${stderr}`.trim().split("\n") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
