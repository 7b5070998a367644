import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const long = /\/(crash-recovery|fault-injection|delivery|replicas)\.test\.ts$/;

/** Starts the longest files first, so that none of them runs alone at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => Number(long.test(moduleId));
    return (await super.sort(files)).sort((a, b) => isLong(b) - isLong(a));
  }
}

// Tests mostly wait for containers, so more of them run in parallel than there are cores. The unit tests in src need Node 24:
// test/units.sh.
export default defineConfig({
  test: {
    include: ["test/*.test.ts"],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    maxWorkers: 3,
    // Files share no state but the containers that each has of its own.
    isolate: false,
    sequence: { sequencer: LongFirst },
  },
});
