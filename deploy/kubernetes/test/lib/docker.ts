import { execFileSync, spawnSync } from "node:child_process";

/** Runs the docker client and returns what it printed. Throws with its message if it fails. */
export function docker(...args: string[]): string {
  return execFileSync("docker", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

/** Builds an image from the text of a Dockerfile, without any files, and returns its id. Throws with the build's output. */
export function buildFrom(text: string): string {
  return execFileSync("docker", ["build", "-q", "-"], { input: text, encoding: "utf8", stdio: "pipe" }).trim();
}

/** The image of the tested stack, by its name in the manifests: culvert-web, culvert-proxy … */
export const built = (name: string): string =>
  `${process.env.COMPOSE_PROJECT_NAME ?? "culvert"}-${name.replace(/^culvert-/, "")}`;

/** Whether the engine has all of these images. */
export const hasImages = (...names: string[]): boolean =>
  spawnSync("docker", ["image", "inspect", ...names.map(built)], { stdio: "ignore" }).status === 0;

/** Waits until a container of Node's listens. */
export function waitFor(id: string, port: number): void {
  const retry = `.on("connect", () => process.exit()).on("error", () => setTimeout(ask, 50))`;
  docker("exec", id, "node", "-e", `const ask = () => require("net").connect(${port})${retry}; ask()`);
}
