import { configDefaults, defineConfig } from "vitest/config";

/** Tests that need no container: `make check` runs them, too. */
const units = ["{defaults,documents,reason}.test.ts", "doctor/{checks,contract,network}.test.ts"];
/** In a stack of its own, whose images it builds again. */
const upgrade = "upgrade.test.ts";

// Long timeouts, because tests start and stop containers; no test compares times.
export default defineConfig({
  test: {
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    maxWorkers: 3,
    // Files share no state but variables of the environment, and those that set some take them back.
    isolate: false,
    expect: { poll: { timeout: 600_000, interval: 200 } },
    projects: [
      { extends: true, test: { name: "units", include: units } },
      { extends: true, test: { name: "upgrade", include: [upgrade] } },
      // The option --exclude does not act in projects.
      { extends: true, test: { name: "containers", exclude: [...configDefaults.exclude, ...units, upgrade] } },
    ],
  },
});
