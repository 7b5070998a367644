import { preflight } from "./suite/preflight.ts";

// Finds out what the target is, and writes the settings of the run. run.sh starts it before each run, over HTTP/1.1.
export const options = { vus: 1, iterations: 1, setupTimeout: "20m", userAgent: "culvert-loadtest" };

export const setup = (): Promise<string> => preflight(__ENV);

export default function (): void {}

export const handleSummary = ({ setup_data }: { setup_data?: string }): Record<string, string> =>
  setup_data ? { [`${__ENV.OUT}/target.env`]: setup_data } : {};
