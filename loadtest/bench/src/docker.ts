import { execFile } from "node:child_process";
import { resolve } from "node:path";

/** The repository, the bench's folder, and the output folder; run.sh starts in the bench's folder. */
export const bench = process.cwd();
export const root = resolve(bench, "../..");
export const output = resolve(root, ".culvert/bench");

/** Runs the docker client and returns its stdout; throws with its last lines if it fails. */
export function docker(...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile("docker", args, { maxBuffer: 256 << 20 }, (error, stdout, stderr) => {
      if (!error) return resolve(stdout.trim());
      const end = (stdout + stderr).trim().split("\n").slice(-40).join("\n");
      reject(new Error(`docker ${args.join(" ")}:\n${end}`));
    });
  });
}
