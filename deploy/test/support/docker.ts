import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The result of a process: exit code, and standard output followed by standard error. */
export interface Outcome {
  code: number;
  output: string;
}

/** Runs a program in the repository's root; never throws on a non-zero exit. */
export function run(file: string, args: string[], environment: NodeJS.ProcessEnv = process.env): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(file, args, { cwd: root, env: environment, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
      // A program that could not be started has no output.
      resolve({ code, output: stdout + stderr || (error?.message ?? "") });
    });
  });
}

export const docker = (...args: string[]): Promise<Outcome> => run("docker", args);

export function outputOf(command: string[], { code, output }: Outcome): string {
  if (code !== 0) throw new Error(`${command.join(" ")}: ${output}`);
  return output.trim();
}

/** Runs docker and returns its output; throws with it on a non-zero exit. */
export const must = async (...args: string[]): Promise<string> => outputOf(["docker", ...args], await docker(...args));

/** Whether this machine reaches the containers of a network, given by id, without published ports. */
export const isLocal = (network: string): boolean => existsSync(`/sys/class/net/br-${network.slice(0, 12)}`);

/** Label for every container, network and volume of a test run, by which deploy/test/run.sh removes them. */
export const label = `--label=culvert.test=${process.env.CULVERT_TEST_RUN ?? "by-hand"}`;

/** Returns a name for a compose project of a test run, by which deploy/test/run.sh removes it. */
export const projectName = (what: string) => `culvert-${what}-${process.env.CULVERT_TEST_RUN ?? process.pid}`;

/** The first three bytes of a /24 of this test run: what a killed run left has other ones. */
export const networkOf = (second: number) =>
  `10.${second}.${1 + (Number(process.env.CULVERT_TEST_RUN ?? process.pid) % 255)}`;

/** The compose project whose images are tested. */
export const IMAGES = process.env.COMPOSE_PROJECT_NAME ?? "culvert";

// The proxy, the first service of the compose file: its tmpfs folders, and its memory limit, such as "2g".
const compose = readFileSync(`${root}/docker-compose.yml`, "utf8");
const inMemory: string[] = JSON.parse(/tmpfs: (\[.*\])/.exec(compose)?.[1] ?? "");
export const memoryLimit = /mem_limit: (\S+)/.exec(compose)?.[1] ?? "";

/** The options with which the compose file runs every container. */
export const restricted = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"];

/** The options with which the compose file runs the proxy; its image must work with them. */
export const hardened = [...restricted, ...inMemory.map((folder) => `--tmpfs=${folder}`)];

/** What `docker run` needs to run a recorder; with the folder of a certificate `server`, it also listens on 9443. */
export const recorderArguments = (certificates = ""): string[] => [
  ...(certificates ? [`--volume=${certificates}:/cert:ro`, "--env=CERT=/cert/server"] : []),
  `--volume=${root}/deploy/test/support/recorder:/recorder:ro`,
  "node:24-trixie-slim",
  "node",
  "/recorder/server.ts",
];
