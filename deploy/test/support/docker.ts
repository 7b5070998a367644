import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The repository's root. */
export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** What a finished process left: exit code, and its output with both streams joined in order of arrival. */
export interface Outcome {
  code: number;
  output: string;
}

/** Runs a program in the repository's root; never throws on a non-zero exit, which is a result here. */
export function run(file: string, args: string[], environment: NodeJS.ProcessEnv = process.env): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(file, args, { cwd: root, env: environment, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
      // What could not even be started has written nothing.
      resolve({ code, output: stdout + stderr || (error?.message ?? "") });
    });
  });
}

/** Runs the docker client; never throws on a non-zero exit. */
export const docker = (...args: string[]): Promise<Outcome> => run("docker", args);

/** Runs docker and returns its output; throws with it on a non-zero exit. */
export async function must(...args: string[]): Promise<string> {
  const { code, output } = await docker(...args);
  if (code !== 0) throw new Error(`docker ${args.join(" ")}: ${output}`);
  return output.trim();
}

/** On every container, network and volume of a test run, so that its end removes those and nothing else (deploy/test/run.sh). */
export const label = `--label=culvert.test=${process.env.CULVERT_TEST_RUN ?? "by-hand"}`;

/** The compose file, whose first service is the proxy. */
const compose = readFileSync(`${root}/docker-compose.yml`, "utf8");

/** The folders in memory that it gives the proxy. */
const inMemory: string[] = JSON.parse(/tmpfs: (\[.*\])/.exec(compose)?.[1] ?? "");

/** All the memory that it gives the proxy, such as "1g". */
export const memoryLimit = /mem_limit: (\S+)/.exec(compose)?.[1] ?? "";

/** The switches with which the compose file runs every container. */
export const restricted = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"];

/** The switches with which the compose file runs the proxy: the image must be able to live with them. */
export const hardened = [...restricted, ...inMemory.map((folder) => `--tmpfs=${folder}`)];

/** Starts the proxy's image with these settings and waits for its end; for settings that it must refuse. `mounts` maps host file to path. */
export function runProxy(
  image: string,
  settings: Record<string, string>,
  mounts: Record<string, string> = {},
): Promise<Outcome> {
  const environment = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
  const volumes = Object.entries(mounts).map(([file, path]) => `--volume=${file}:${path}:ro`);
  return docker("run", "--rm", label, ...hardened, ...environment, ...volumes, image);
}
