import { percentile } from "./statistics.ts";

/** What wrk did; failed are other answers than 200, broken connections and timeouts. */
export interface Load {
  requests: number;
  seconds: number;
  failed: number;
}

/** The results of open-loop.ts: times of expected answers in ms. */
export interface OpenLoad {
  requests: number;
  failed: number;
  p50: number;
  p95: number;
  p99: number;
  /** Expected answers per second that came within GOOD_MS. */
  goodPerSecond: number;
}

/** The longest that a visitor should wait for a page. */
export const GOOD_MS = 1000;

/** The last line of a program's output, which must be JSON. */
function lastLine(output: string) {
  const line = output.trim().split("\n").at(-1) ?? "";
  if (!/^[[{]/.test(line)) throw new Error(`the load generator printed no results: ${output.slice(-300)}`);
  return JSON.parse(line);
}

/** Parses the output of open-loop.ts. */
export function parseOpenLoop(output: string, seconds: number, expected = 200): OpenLoad {
  const visits: [status: number, milliseconds: number][] = lastLine(output);
  const times = visits.filter(([status]) => status === expected).map(([, time]) => time);
  return {
    ...{ requests: visits.length, failed: visits.length - times.length },
    ...{ p50: percentile(times, 0.5), p95: percentile(times, 0.95), p99: percentile(times, 0.99) },
    goodPerSecond: times.filter((time) => time <= GOOD_MS).length / seconds,
  };
}

/** What open-loop.ts requests, and how often per second. */
export interface Plan {
  url: string;
  rate: number;
  seconds: number;
  /** A file to post. */
  body?: string;
  headers?: Record<string, string>;
  /** Each request has a connection of its own, and so long. */
  timeoutSeconds?: number;
  /** To open before, 256 at most, each with a request that is not reported. */
  connections?: number;
}

/** The command of open-loop.ts: requests at a constant rate, whatever the answers. */
export const openLoop = (plan: Plan): string[] => [
  ...["node", "--disable-warning=ExperimentalWarning", "/bench/src/open-loop.ts", JSON.stringify(plan)],
];

/** wrk's command: posts the envelope, or requests a page, over HTTP/1.1, as fast as possible. */
export const wrk = (
  ...[script, url, connections, seconds, header = "x-bench: 1"]: [string, string, number, number, string?]
): string[] => [
  ...["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "--timeout=10s"],
  ...[`--header=${header}`, `--script=/bench/configs/${script}.lua`, url],
];

/** Parses the line of JSON that configs/results.lua prints. */
export function parseWrk(output: string): Load {
  const { requests, microseconds, failed } = lastLine(output);
  return { requests, seconds: microseconds / 1e6, failed };
}
