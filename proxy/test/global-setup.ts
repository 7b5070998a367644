import { randomUUID } from "node:crypto";
import type { TestProject } from "vitest/node";
import { docker } from "../../deploy/test/support/docker.ts";
import { testbedPrefix } from "./testbed.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** By which the testbeds of this run of the tests are told from those of others. */
    run: string;
  }
}

/** Removes the testbeds after the last test file: files of one worker share them (testbed.ts). */
export default function setup(project: TestProject): () => Promise<void> {
  const run = randomUUID().slice(0, 8);
  project.provide("run", run);
  return async () => {
    for (const [list, remove] of [
      [
        ["ps", "-aq"],
        ["rm", "-f", "-v"],
      ],
      [
        ["network", "ls", "-q"],
        ["network", "rm"],
      ],
    ] as const) {
      const { output } = await docker(...list, "--filter", `name=${testbedPrefix(run)}`);
      if (output.trim()) await docker(...remove, ...output.trim().split("\n"));
    }
  };
}
