import exec from "k6/execution";
import { preflight } from "./suite/preflight.ts";
import { notRunFiles } from "./suite/report.ts";

// Finds out what the target is, and writes the settings of the run. run.sh starts it before each run, over HTTP/1.1.
export const options = { vus: 1, iterations: 1, setupTimeout: "20m", userAgent: "culvert-loadtest" };

interface Found {
  file?: string;
  problem?: string;
  exit?: number;
}

export const setup = (): Promise<Found> =>
  preflight(__ENV).then(
    (file) => ({ file }),
    ({ message, exit }) => ({ problem: message, exit }),
  );

export default function ({ problem }: Found): void {
  if (problem) exec.test.abort(problem);
}

export const handleSummary = ({ setup_data }: { setup_data?: Found }): Record<string, string> => {
  const { OUT = "", PROFILE = "smoke" } = __ENV;
  const { file, problem = "its setup failed: see k6's log", exit } = setup_data ?? {};
  return file === undefined ? notRunFiles(PROFILE, problem, OUT, exit) : { [`${OUT}/target.env`]: file };
};
