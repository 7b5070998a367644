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

/** The objects that the chart renders with these values in a namespace. Throws with Helm's message. */
export function template(values: object, namespace = "culvert"): Resource[] {
  const output = helm(["template", "culvert", chart, `--namespace=${namespace}`, "--values=-"], JSON.stringify(values));
  return parseAllDocuments(output, { version: "1.1" })
    .map((document) => document.toJS() as Resource | null)
    .filter((object) => object !== null);
}
