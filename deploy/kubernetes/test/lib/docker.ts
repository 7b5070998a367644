import { execFileSync, spawnSync } from "node:child_process";

/** Runs the docker client and returns what it printed. Throws with its own words when it fails. */
export function docker(...args: string[]): string {
  return execFileSync("docker", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

/** Builds an image from the text of a Dockerfile, without any files, and returns its id. Throws with the build's own words. */
export function buildFrom(text: string): string {
  return execFileSync("docker", ["build", "-q", "-"], { input: text, encoding: "utf8", stdio: "pipe" }).trim();
}

/** How long an image may take that packages are fetched for, in ms: the mirror may be slow, or need to be asked again. */
export const fetching = 300_000;

/** Builds an image of Node's with one more package of Debian's, and returns its id. Throws with the build's own words. */
export const withPackage = (name: string): string =>
  buildFrom(`FROM node:24-trixie-slim
RUN apt-get -o Acquire::Retries=3 update && apt-get -o Acquire::Retries=3 install -y --no-install-recommends ${name}
`);

/** The image that the stack under test was built to, by the name it has in the manifests: culvert-web, culvert-proxy … */
export const built = (name: string): string =>
  `${process.env.COMPOSE_PROJECT_NAME ?? "culvert"}-${name.replace(/^culvert-/, "")}`;

/** Whether there is an engine here, and all of these images. */
export const hasImages = (...names: string[]): boolean =>
  spawnSync("docker", ["image", "inspect", ...names.map(built)], { stdio: "ignore" }).status === 0;
