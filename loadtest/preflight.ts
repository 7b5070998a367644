import exec from "k6/execution";
import { detect, type Found, settingsFile } from "./suite/preflight.ts";

// Finds out what the target is, and prints the settings that a run would use. run.sh starts it before each run.

export const options = { vus: 1, iterations: 1, setupTimeout: "20m" };

export async function setup(): Promise<Found> {
  const found = await detect(__ENV);
  if (found.problem) exec.test.abort(found.problem);
  return found;
}

export default function (): void {}

export function handleSummary({ setup_data }: { setup_data?: Found }): Record<string, string> {
  if (!setup_data) return {};
  const { OUT = "" } = __ENV;
  const text = settingsFile(setup_data, __ENV);
  return OUT ? { stdout: text.readable, [`${OUT}/settings.env`]: text.file } : { stdout: text.readable };
}
