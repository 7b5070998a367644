import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { docker, root, run } from "./docker.ts";

/** What a build is given besides its folder. */
export interface BuildOptions {
  tag?: string;
  /** Relative to the repository, when it is not the folder's own. */
  dockerfile?: string;
  args?: Record<string, string>;
  /** Ids of build secrets and the files that hold them. */
  secrets?: Record<string, string>;
  labels?: Record<string, string>;
}

let ca: Promise<string> | undefined;

/** The file with the extra CA that npm needs on this machine, found as `make up` finds it; empty where it needs none. */
function buildCa(): Promise<string> {
  ca ??= process.env.BUILD_CA_FILE
    ? Promise.resolve(process.env.BUILD_CA_FILE)
    : run("sh", ["deploy/host/build-ca.sh"]).then(({ output }) => output.trim().split("\n").at(-1) ?? "");
  return ca;
}

/**
 * Builds an image from a folder of the repository (or an absolute path) and returns its id. Every image of a test is built
 * here: behind an egress that inspects TLS, npm inside a build needs the host's CA. Throws with the output of the command
 * that failed, not only with BuildKit's summary.
 */
export async function buildImage(folder: string, options: BuildOptions = {}): Promise<string> {
  const { tag, dockerfile, args = {}, labels = {} } = options;
  const work = mkdtempSync(join(tmpdir(), "culvert-build-"));
  const extraCa = await buildCa();
  const secrets = { ...(extraCa && { build_ca: extraCa }), ...options.secrets };
  try {
    const { code, output } = await docker(
      ...["build", "--progress=plain", `--iidfile=${work}/id`],
      ...(tag ? ["-t", tag] : []),
      ...(dockerfile ? ["-f", join(root, dockerfile)] : []),
      ...Object.entries(secrets).map(([id, file]) => `--secret=id=${id},src=${file}`),
      ...Object.entries(args).map(([name, value]) => `--build-arg=${name}=${value}`),
      ...Object.entries(labels).map(([name, value]) => `--label=${name}=${value}`),
      folder.startsWith("/") ? folder : join(root, folder),
    );
    if (code !== 0) throw new Error(`building ${folder} failed:\n${output.split("\n").slice(-80).join("\n")}`);
    return readFileSync(`${work}/id`, "utf8").trim();
  } finally {
    rmSync(work, { recursive: true });
  }
}

const built: Partial<Record<"proxy" | "spool", Promise<string>>> = {};

/** The image of the proxy, or of its spool, built from the real Dockerfile once for a file of tests: its id. Throws as `buildImage` does. */
export function build(what: "proxy" | "spool" = "proxy"): Promise<string> {
  built[what] ??= buildImage(what === "proxy" ? "proxy" : "proxy/spool");
  return built[what];
}
