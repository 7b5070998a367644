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

/** The results of open-loop.ts, whose rate does not depend on the answers; times of the requests that were answered with a page. */
export interface OpenLoad extends Load {
  p95: number;
  /** Pages per second of the run that came within GOOD_MS. */
  goodPerSecond: number;
  /** The share answered with 503, and with anything else that is no page, or not at all. */
  shedShare: number;
  failedShare: number;
}

/** The longest that a visitor should wait for a page. */
export const GOOD_MS = 1000;

/** The status of each request of open-loop.ts, -1 for none, and how long it took in milliseconds. */
type Result = [status: number, milliseconds: number];

/** The line of JSON that open-loop.ts prints; throws if it is missing. */
function parseResults(output: string): Result[] {
  const line = output.trim().split("\n").at(-1) ?? "";
  if (!line.startsWith("[")) throw new Error(`the open loop printed no results: ${output.slice(-300)}`);
  return JSON.parse(line);
}

/** What open-loop.ts saw of a service under attack: NaN as times if no request got the expected answer. */
export interface Probe {
  requests: number;
  failed: number;
  p50: number;
  p99: number;
}

/** Parses the output of open-loop.ts where failures are a result, too; throws if there is none. */
export function parseProbe(output: string, expected: number): Probe {
  const visits = parseResults(output);
  const times = visits.filter(([status]) => status === expected).map(([, time]) => time);
  const at = (share: number) => (times.length ? percentile(times, share) : Number.NaN);
  return { requests: visits.length, failed: visits.length - times.length, p50: at(0.5), p99: at(0.99) };
}

/** Parses the line of JSON that open-loop.ts prints; throws if it is missing. Shed requests have not failed. */
export function parseOpenLoop(output: string, seconds: number): OpenLoad {
  const visits = parseResults(output);
  const times = visits.filter(([status]) => status === 200).map(([, time]) => time);
  if (times.length === 0)
    throw new Error(`no request of the open loop was answered with a page, but with ${output.slice(0, 100)}`);
  const shed = visits.filter(([status]) => status === 503).length;
  return {
    requests: visits.length,
    seconds,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    p99: percentile(times, 0.99),
    failed: visits.length - times.length - shed,
    goodPerSecond: times.filter((time) => time <= GOOD_MS).length / seconds,
    shedShare: shed / visits.length,
    failedShare: (visits.length - times.length - shed) / visits.length,
  };
}

/**
 * What open-loop.ts posts; how long each request, then on a connection of its own, may take; how many connections it opens before, 256 at
 * most (Node's agent keeps no more).
 */
interface OpenLoopOptions {
  body?: string;
  headers?: Record<string, string>;
  timeoutSeconds?: number;
  connections?: number;
}

/** Requests a page at a constant rate, whatever the answers. */
export function openLoop(url: string, rate: number, seconds: number, options: OpenLoopOptions = {}): string[] {
  const { body = "", headers = {}, timeoutSeconds = "", connections = 0 } = options;
  const how = { BODY: body, HEADERS: JSON.stringify(headers), TIMEOUT_S: timeoutSeconds, CONNECTIONS: connections };
  const all = { PAGE: url, RATE: rate, SECONDS: seconds, ...how };
  const given = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  return ["env", ...given, "node", "--disable-warning=ExperimentalWarning", "/bench/src/open-loop.ts"];
}

/** Parses the line of JSON that configs/results.lua prints; throws if it is missing. */
export function parseWrk(output: string): Load {
  const line = output.trim().split("\n").at(-1) ?? "";
  if (!line.startsWith("{")) throw new Error(`wrk printed no results: ${output.slice(-300)}`);
  const results: Record<string, number> = JSON.parse(line);
  const number = (name: string): number => {
    const value = results[name];
    if (value === undefined) throw new Error(`wrk's results have no ${name}`);
    return value;
  };
  return {
    requests: number("requests"),
    seconds: number("microseconds") / 1e6,
    p50: number("p50") / 1000,
    p99: number("p99") / 1000,
    failed: number("rejected") + number("broken"),
  };
}

/**
 * h2load's --log-file: tab-separated start (µs since the epoch), status (-1: broken), µs until the end of the response.
 * https://nghttp2.org/documentation/h2load.1.html. Throws if it is empty. `seconds` is the length of the run.
 */
export function parseH2loadLog(log: string, seconds: number): Load {
  const rows = log.split("\n").filter(Boolean);
  const times = rows.map((row) => Number(row.split("\t")[2]) / 1000);
  if (times.length === 0 || times.some(Number.isNaN))
    throw new Error(`h2load's log is not readable: ${log.slice(0, 200)}`);
  const failed = rows.filter((row) => !/^[23]\d\d$/.test(row.split("\t")[1] ?? "")).length;
  return { requests: rows.length, seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99), failed };
}

/** A script for wrk: configs/<name>.lua. */
export type Script = "envelope" | "browser" | "plain";

/** wrk's command: over HTTP/1.1 and as fast as possible, posts the envelope, or requests a page or file compressed or not. */
export function wrk(script: Script, url: string, connections: number, seconds: number): string[] {
  const file = `--script=/bench/configs/${script}.lua`;
  return ["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "--timeout=10s", file, url];
}

/** h2load's command, which prints a new log; `sh -c` does that in one call. The last argument is the address. */
export function h2load(name: string, ...args: string[]): string[] {
  const script = `rm -f "$0"; h2load --log-file="$0" "$@" >"$0.out" 2>&1 || { cat "$0.out" >&2; exit 1; }; cat "$0"`;
  return ["sh", "-c", script, `/tmp/${name}.log`, ...args];
}

/**
 * Posts the envelope over HTTP/2, one at a time on each of many connections. Nginx closes a connection after 1,000
 * requests (keepalive_requests) and h2load then stops that client, so there are enough of them.
 */
export function h2Envelopes(url: string, seconds: number): string[] {
  const clients = Math.max(32, seconds * 32);
  return h2load("h2", `-c${clients}`, `-D${seconds}`, ...envelope, url);
}

/** Requests one page after another as browsers do, `rate` per second, so that no request waits in a queue of the generator. */
export function pacedPages(url: string, rate: number, seconds: number): string[] {
  return h2load("pages", "--h1", "-c1", `--rps=${rate}`, `-D${seconds}`, accept, url);
}

/** Posts envelopes at a constant rate from 32 connections. */
export function pacedEnvelopes(url: string, rate: number, seconds: number): string[] {
  return h2load("flood", "--h1", "-c32", `--rps=${rate / 32}`, `-D${seconds}`, ...envelope, url);
}

/** Parses the line of JSON that proxy/spool/bench/receive.ts prints; throws if it is missing. */
export function parseReceiver(output: string): Load {
  const line = output.trim().split("\n").at(-1) ?? "";
  if (!line.startsWith("{")) throw new Error(`the receiver's load printed no results: ${output.slice(-300)}`);
  const { accepted = 0, rejected = 0, seconds = 0, p50_ms = 0, p99_ms = 0 }: Record<string, number> = JSON.parse(line);
  return { requests: accepted + rejected, seconds, p50: p50_ms, p99: p99_ms, failed: rejected };
}

/** Sends envelopes to a spool as the proxy does, as fast as they are acknowledged; `to` is their destination. */
export function receiver(url: string, to: string, connections: number, seconds: number): string[] {
  const settings = { SPOOL_URL: url, SPOOL_DESTINATION: to, CONNECTIONS: connections, SECONDS: seconds };
  const given = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return ["env", ...given, "node", "--disable-warning=ExperimentalWarning", "/spool-bench/receive.ts"];
}

const accept = "--header=accept-encoding: gzip, deflate, br, zstd";
const envelope = ["--data=/run-data/envelope", "--header=content-type: text/plain;charset=UTF-8"];
