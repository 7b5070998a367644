import { execFileSync } from "node:child_process";
import type { TestProject } from "vitest/node";
import { kubernetes, root } from "./paths.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The command that renders a folder, as arguments; empty if kustomize is not available. */
    kustomize: string[];
    /** The path of Helm; empty if it is not available. */
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
