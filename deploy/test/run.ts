import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Outcome } from "../../proxy/test/image.ts";

/** The repository's root. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a command in the repository with these variables on top of the test's own; never throws on a non-zero exit. */
export function run(command: string[], environment: Record<string, string> = {}): Promise<Outcome> {
  const [file = "", ...args] = command;
  return new Promise((resolve) => {
    const options = { cwd: root, env: { ...process.env, ...environment }, maxBuffer: 64 << 20 };
    execFile(file, args, options, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
      resolve({ code, output: stdout + stderr });
    });
  });
}

/** Runs a command as `run` does and returns its output; throws with it on a non-zero exit. */
export async function must(command: string[], environment?: Record<string, string>): Promise<string> {
  const { code, output } = await run(command, environment);
  if (code !== 0) throw new Error(`${command.join(" ")}: ${output}`);
  return output.trim();
}

/** The last line of an output: where a script or a container says why it stopped. */
export function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}
