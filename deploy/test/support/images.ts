import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { docker, root, run } from "./docker.ts";

/** `dockerfile` is relative to the repository, by default the folder's own; `secrets` are files by id. */
export interface BuildOptions extends Partial<Record<"tag" | "dockerfile" | "network", string>> {
  args?: Record<string, string>;
  secrets?: Record<string, string>;
}

let ca: Promise<string> | undefined;

/** The file with the extra CA that npm needs on this machine, found as `make up` does; empty if none is needed. */
export function buildCa(): Promise<string> {
  ca ??= process.env.BUILD_CA_FILE
    ? Promise.resolve(process.env.BUILD_CA_FILE)
    : run("sh", ["deploy/bare-machine/build-ca.sh"]).then(({ output }) => output.trim().split("\n").at(-1) ?? "");
  return ca;
}

/** Builds an image from a folder, relative to the repository, with this host's CA for npm; returns its id. */
export async function buildImage(folder: string, options: BuildOptions = {}): Promise<string> {
  const { tag, dockerfile, network, args = {} } = options;
  const work = mkdtempSync(join(tmpdir(), "culvert-build-"));
  const extraCa = await buildCa();
  const secrets = { ...(extraCa && { build_ca: extraCa }), ...options.secrets };
  const flags = Object.entries({ tag, network, file: dockerfile && join(root, dockerfile) });
  try {
    const { code, output } = await docker(
      "build",
      "--progress=plain",
      `--iidfile=${work}/id`,
      ...flags.flatMap(([name, value]) => (value ? `--${name}=${value}` : [])),
      ...Object.entries(secrets).map(([id, file]) => `--secret=id=${id},src=${file}`),
      ...Object.entries(args).map(([name, value]) => `--build-arg=${name}=${value}`),
      folder.startsWith("/") ? folder : join(root, folder),
    );
    if (code !== 0) throw new Error(`building ${folder} failed:\n${output.split("\n").slice(-80).join("\n")}`);
    return readFileSync(`${work}/id`, "utf8").trim();
  } finally {
    rmSync(work, { recursive: true });
  }
}

const folders = { proxy: "proxy", spool: "proxy/spool" };
const built: Partial<Record<keyof typeof folders, Promise<string>>> = {};

/** Builds an image once and returns its id; PROXY_IMAGE or SPOOL_IMAGE name one for another architecture. */
export function build(what: keyof typeof folders = "proxy"): Promise<string> {
  const image = process.env[`${what.toUpperCase()}_IMAGE`];
  built[what] ??= image ? Promise.resolve(image) : buildImage(folders[what]);
  return built[what];
}

/** Builds Node's image with the programs from Debian that tests need, and returns its id. */
export const buildWithDebian = (): Promise<string> => buildImage("deploy/test/support/debian");
