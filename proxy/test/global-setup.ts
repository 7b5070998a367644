import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { makePair } from "../../deploy/test/support/certificate.ts";
import { docker } from "../../deploy/test/support/docker.ts";
import { ingestNames } from "./testbed.ts";
import { publicFolder } from "./use-proxy.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** With what the names of all testbeds of this run of the tests begin. */
    run: string;
    /** The folder with the ingests' certificate, `server`. */
    certificate: string;
  }
}

/** Removes the testbeds after the last test file: files of one worker share them (testbed.ts). */
export default function setup(project: TestProject): () => Promise<void> {
  const run = `culvert-proxy-test-${randomUUID().slice(0, 8)}-`;
  const certificate = publicFolder();
  makePair(join(certificate, "server"), ingestNames);
  project.provide("run", run);
  project.provide("certificate", certificate);
  return async () => {
    for (const [list, remove] of [
      ["ps -aq", "rm -f -v"],
      ["network ls -q", "network rm"],
    ] as const) {
      const { output } = await docker(...list.split(" "), "--filter", `name=${run}`);
      if (output.trim()) await docker(...remove.split(" "), ...output.trim().split("\n"));
    }
    rmSync(certificate, { recursive: true });
  };
}
