import { execFileSync, spawnSync } from "node:child_process";
import { parseAllDocuments } from "yaml";
import type { Resource } from "./objects.ts";
import { root } from "./paths.ts";

/** The chart's folder. */
export const chart = `${root}/deploy/chart`;

const command = spawnSync("sh", [`${chart}/helm.sh`], { encoding: "utf8" });

/** Whether this machine has Helm; else tests that need it are skipped. */
export const hasHelm = command.status === 0;

/** Runs Helm with values, later ones on top of earlier ones, and returns its output. Throws with its message. */
export function helm(args: string[], values: object[] = []): string {
  const set = values.map((each) => `--set-json=${JSON.stringify(each)}`);
  return execFileSync(command.stdout.trim(), [...args, ...set], {
    encoding: "utf8",
    stdio: "pipe",
    maxBuffer: 64 << 20,
  });
}

/** Images as a release names them. */
export const images = (tag: string, registry = "registry.example.com") =>
  Object.fromEntries(
    ["proxy", "web", "spool"].map((name) => [name, { image: { repository: `${registry}/culvert-${name}`, tag } }]),
  );

/** The objects of a release with these values. Throws with Helm's message. */
export function template(
  values: object[],
  { namespace = "culvert", release = "culvert", tests = false, from = chart } = {},
): Resource[] {
  const own = { test: { enabled: tests } };
  const output = helm(["template", release, from, `--namespace=${namespace}`], [own, ...values]);
  return parseAllDocuments(output, { version: "1.1" }).flatMap((document) => document.toJS() ?? []);
}
