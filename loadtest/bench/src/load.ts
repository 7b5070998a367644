import { percentile } from "./statistics.ts";

/** The results of one run of a load generator. Times in milliseconds, NaN if nothing was answered as expected. */
export interface Load {
  requests: number;
  seconds: number;
  p50: number;
  p95: number;
  p99: number;
  /** Other answers than the expected one, broken connections and timeouts. */
  failed: number;
}

/** The results of open-loop.ts. */
export interface OpenLoad extends Load {
  /** Expected answers per second that came within GOOD_MS. */
  goodPerSecond: number;
  /** The share answered with 503. */
  shedShare: number;
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
  const at = (share: number) => (times.length ? percentile(times, share) : Number.NaN);
  return {
    ...{ requests: visits.length, seconds, failed: visits.length - times.length },
    ...{ p50: at(0.5), p95: at(0.95), p99: at(0.99) },
    goodPerSecond: times.filter((time) => time <= GOOD_MS).length / seconds,
    shedShare: visits.filter(([status]) => status === 503).length / visits.length,
  };
}

/** A body to post; with a timeout, each request has its own connection; connections to open before, 256 at most. */
interface OpenLoopOptions {
  body?: string;
  headers?: Record<string, string>;
  timeoutSeconds?: number;
  connections?: number;
}

/** The command of open-loop.ts: requests at a constant rate, whatever the answers. */
export function openLoop(url: string, rate: number, seconds: number, options: OpenLoopOptions = {}): string[] {
  const { body = "", headers = {}, timeoutSeconds = "", connections = 0 } = options;
  const how = { BODY: body, HEADERS: JSON.stringify(headers), TIMEOUT_S: timeoutSeconds, CONNECTIONS: connections };
  const all = { PAGE: url, RATE: rate, SECONDS: seconds, ...how };
  const given = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  return ["env", ...given, "node", "--disable-warning=ExperimentalWarning", "/bench/src/open-loop.ts"];
}

/** wrk's command: posts the envelope, or requests a page, over HTTP/1.1, as fast as possible. */
export function wrk(script: "envelope" | "browser", url: string, connections: number, seconds: number): string[] {
  const file = `--script=/bench/configs/${script}.lua`;
  return ["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "--timeout=10s", file, url];
}

/** Parses the line of JSON that configs/results.lua prints. */
export function parseWrk(output: string): Load {
  const { requests, microseconds, p50, p95, p99, rejected, broken } = lastLine(output);
  const times = { p50: p50 / 1000, p95: p95 / 1000, p99: p99 / 1000 };
  return { requests, seconds: microseconds / 1e6, ...times, failed: rejected + broken };
}
