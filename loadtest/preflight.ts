import exec from "k6/execution";
import { detect, type Found, settingsFiles } from "./suite/preflight.ts";
import { notRun } from "./suite/report.ts";

// Finds out what the target is, and prints the settings that a run would use. run.sh starts it before each run, over HTTP/1.1.
export const options = { vus: 1, iterations: 1, setupTimeout: "20m" };

export const setup = (): Promise<Found> => detect(__ENV);

export default function ({ problem }: Found): void {
  if (problem) exec.test.abort(problem);
}

export function handleSummary({ setup_data }: { setup_data?: Found }): Record<string, string> {
  if (!setup_data) return {};
  const { OUT = "" } = __ENV;
  if (setup_data.problem) return notRun(__ENV, setup_data.problem);
  const { readable, settings, target } = settingsFiles(setup_data, __ENV);
  return OUT
    ? { stdout: readable, [`${OUT}/settings.env`]: settings, [`${OUT}/target.env`]: target }
    : { stdout: readable };
}
