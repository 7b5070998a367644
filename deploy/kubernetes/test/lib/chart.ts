import { execFileSync } from "node:child_process";
import { inject } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Resource } from "./objects.ts";
import { root } from "./paths.ts";

/** The chart's folder. */
export const chart = `${root}/deploy/chart`;

const program = inject("helm");

/** Whether this machine has Helm; else tests that need it are skipped. */
export const hasHelm = program !== "";

/** Runs Helm and returns its output. Throws with its message. */
export function helm(args: string[], input = ""): string {
  return execFileSync(program, args, { encoding: "utf8", input, stdio: ["pipe", "pipe", "pipe"], maxBuffer: 64 << 20 });
}

/** Images as a release names them. */
export const images = (tag: string, registry = "registry.example.com") =>
  Object.fromEntries(
    ["proxy", "web", "spool"].map((name) => [name, { image: { repository: `${registry}/culvert-${name}`, tag } }]),
  );

/** Values on top of others. */
export const merge = (...all: object[]): object =>
  all.reduce<Record<string, unknown>>((into, more) => {
    for (const [key, value] of Object.entries(more)) {
      const old = into[key];
      const isMap = (one: unknown) => typeof one === "object" && one !== null && !Array.isArray(one);
      into[key] = isMap(old) && isMap(value) ? merge(old as object, value) : value;
    }
    return into;
  }, {});

/** The objects of a release with these values. Throws with Helm's message. */
export function template(
  values: object,
  { namespace = "culvert", release = "culvert", tests = false, from = chart } = {},
): Resource[] {
  const args = [
    "template",
    release,
    from,
    `--namespace=${namespace}`,
    "--values=-",
    ...(tests ? [] : ["--skip-tests"]),
  ];
  const output = helm(args, JSON.stringify(values));
  return parseAllDocuments(output, { version: "1.1" })
    .map((document) => document.toJS() as Resource | null)
    .filter((object) => object !== null);
}
