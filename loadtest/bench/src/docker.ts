import { execFile } from "node:child_process";

/** Returns the last lines that a container wrote, to stdout and stderr. */
export function logs(container: string): Promise<string> {
  return new Promise((resolve) => {
    execFile("docker", ["logs", "--tail=5", container], (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

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
