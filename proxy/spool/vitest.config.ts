import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const long = /\/(kills|moods|durability|delivery)\.test\.ts$/;

/** What takes longest begins first, lest the others wait for it in the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => Number(long.test(moduleId));
    return (await super.sort(files)).sort((a, b) => isLong(b) - isLong(a));
  }
}

// Tests mostly wait for containers: more at once than there are cores. The units in src need Node 24:
// test/units.sh.
export default defineConfig({
  test: {
    include: ["test/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
  },
});
