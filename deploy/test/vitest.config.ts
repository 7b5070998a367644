import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that need no container: `make check` runs them, too. */
const units = ["{defaults,documents,reason}.test.ts", "doctor/{checks,contract,network}.test.ts"];
/** In a stack of its own, whose images it builds again. */
const upgrade = "upgrade.test.ts";

/** The longest file comes first: as the last one, it would run alone for a minute. */
class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const isOther = ({ moduleId }: TestSpecification) => Number(!moduleId.endsWith("deploy-failures.test.ts"));
    return (await super.sort(files)).sort((one, two) => isOther(one) - isOther(two));
  }
}

// Long timeouts, because tests start and stop containers; no test compares times.
export default defineConfig({
  test: {
    testTimeout: 900_000,
    hookTimeout: 900_000,
    maxWorkers: 3,
    // Files share no state but variables of the environment, and those that set some take them back.
    isolate: false,
    sequence: { sequencer: Sequencer },
    expect: { poll: { timeout: 240_000, interval: 200 } },
    projects: [
      { extends: true, test: { name: "units", include: units } },
      { extends: true, test: { name: "upgrade", include: [upgrade] } },
      // The option --exclude does not act in projects.
      { extends: true, test: { name: "containers", exclude: [...configDefaults.exclude, ...units, upgrade] } },
    ],
  },
});
