import { randomUUID } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { makePair } from "../../deploy/test/support/certificate.ts";
import { run as execute } from "../../deploy/test/support/docker.ts";
import { ingestNames } from "./testbed.ts";

declare module "vitest" {
  interface ProvidedContext {
    run: string;
    folder: string;
  }
}

/** Removes files and testbeds after the last test file: files of one worker share them (testbed.ts). */
export default function setup(project: TestProject): () => Promise<void> {
  const run = `culvert-proxy-test-${randomUUID().slice(0, 8)}-`;
  const folder = mkdtempSync(join(tmpdir(), "culvert-"));
  chmodSync(folder, 0o755);
  makePair(join(folder, "server"), ingestNames);
  project.provide("run", run);
  project.provide("folder", folder);
  return async () => {
    const of = `--quiet --filter=name=${run}`;
    await execute("sh", ["-c", `docker ps -a ${of} | xargs -r docker rm -f -v`]);
    await execute("sh", ["-c", `docker network ls ${of} | xargs -r docker network rm`]);
    rmSync(folder, { recursive: true });
  };
}
