import { percentile } from "./statistics.ts";

/** The results of one run of a load generator. Times in milliseconds. */
export interface Load {
  requests: number;
  seconds: number;
  p50: number;
  p99: number;
  /** Responses other than 2xx and 3xx, broken connections and timeouts. */
  failed: number;
}

/** The results of open-loop.ts. Times are those of the requests that were answered with a page. */
export interface OpenLoad extends Load {
  p95: number;
  /** Pages per second that came within GOOD_MS. */
  goodPerSecond: number;
  /** The share answered with 503, and with anything else that is no page, or not at all. */
  shedShare: number;
  failedShare: number;
}

/** The longest that a visitor should wait for a page. */
export const GOOD_MS = 1000;

/** The last line of a program's output, which must be JSON. */
function lastLine(output: string) {
  const line = output.trim().split("\n").at(-1) ?? "";
  if (!/^[[{]/.test(line)) throw new Error(`the load generator printed no results: ${output.slice(-300)}`);
  return JSON.parse(line);
}

type Visits = [status: number, milliseconds: number][];

/** What open-loop.ts saw of a service under attack. Times are NaN if no request got the expected answer. */
export interface Probe {
  requests: number;
  failed: number;
  p50: number;
  p99: number;
}

/** Parses the output of open-loop.ts where failures are a result, too. */
export function parseProbe(output: string, expected: number): Probe {
  const visits: Visits = lastLine(output);
  const times = visits.filter(([status]) => status === expected).map(([, time]) => time);
  const at = (share: number) => (times.length ? percentile(times, share) : Number.NaN);
  return { requests: visits.length, failed: visits.length - times.length, p50: at(0.5), p99: at(0.99) };
}

/** Parses the output of open-loop.ts. Shed requests have not failed. */
export function parseOpenLoop(output: string, seconds: number): OpenLoad {
  const visits: Visits = lastLine(output);
  const times = visits.filter(([status]) => status === 200).map(([, time]) => time);
  if (times.length === 0) throw new Error(`no request was answered with a page, but with ${output.slice(0, 100)}`);
  const shed = visits.filter(([status]) => status === 503).length;
  const failed = visits.length - times.length - shed;
  return {
    ...{ requests: visits.length, seconds, failed },
    ...{ p50: percentile(times, 0.5), p95: percentile(times, 0.95), p99: percentile(times, 0.99) },
    goodPerSecond: times.filter((time) => time <= GOOD_MS).length / seconds,
    shedShare: shed / visits.length,
    failedShare: failed / visits.length,
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
  const { requests, microseconds, p50, p99, rejected, broken } = lastLine(output);
  return { requests, seconds: microseconds / 1e6, p50: p50 / 1000, p99: p99 / 1000, failed: rejected + broken };
}

/** h2load's command, which prints a new log. `sh -c` does that in one call. */
function h2load(...args: string[]): string[] {
  const script = `rm -f "$0"; h2load --log-file="$0" "$@" >"$0.out" 2>&1 || { cat "$0.out" >&2; exit 1; }; cat "$0"`;
  return ["sh", "-c", script, "/tmp/h2load.log", ...args];
}

/** Parses h2load's log: start, status, µs until the end of the response. https://nghttp2.org/documentation/h2load.1.html */
export function parseH2load(log: string, seconds: number): Load {
  const rows = log.split("\n").filter(Boolean);
  const times = rows.map((row) => Number(row.split("\t")[2]) / 1000);
  if (times.length === 0 || times.some(Number.isNaN))
    throw new Error(`h2load's log is not readable: ${log.slice(0, 200)}`);
  const failed = rows.filter((row) => !/^[23]\d\d$/.test(row.split("\t")[1] ?? "")).length;
  return { requests: rows.length, seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99), failed };
}

/** Posts envelopes over HTTP/2. Nginx closes a connection after 1,000 requests, and h2load then stops that client. */
export const h2Envelopes = (url: string, seconds: number) =>
  h2load(
    ...[`-c${Math.max(32, seconds * 32)}`, `-D${seconds}`, "--data=/run-data/envelope"],
    ...["--header=content-type: text/plain;charset=UTF-8", url],
  );

/** Requests one page after another, `rate` per second. */
export const pacedPages = (url: string, rate: number, seconds: number) =>
  h2load("--h1", "-c1", `--rps=${rate}`, `-D${seconds}`, "--header=accept-encoding: gzip, deflate, br, zstd", url);
