import { execFileSync } from "node:child_process";
import type { TestProject } from "vitest/node";
import { kubernetes, root } from "./paths.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The command that renders a folder, in words; empty on a machine that has none and can't get one. */
    kustomize: string[];
    /** Helm; empty on a machine that has none and can't get one. */
    helm: string;
  }
}

/** Finds kustomize and Helm once for all test files. */
export default function setup(project: TestProject): void {
  try {
    const command = execFileSync("sh", [`${kubernetes}/kustomize.sh`], { encoding: "utf8" });
    project.provide("kustomize", command.trim().split(" "));
  } catch {
    project.provide("kustomize", []);
  }
  try {
    project.provide("helm", execFileSync("sh", [`${root}/deploy/chart/helm.sh`], { encoding: "utf8" }).trim());
  } catch {
    project.provide("helm", "");
  }
}
