import { percentile } from "./statistics.ts";

/** What one run of a load generator found. Times in milliseconds. */
export interface Load {
  requests: number;
  seconds: number;
  p50: number;
  p99: number;
  /** Answers other than 2xx and 3xx, connections that broke, answers that took too long. */
  failed: number;
}

/** What configs/report.lua prints at wrk's end, one line of JSON; throws when it is missing. */
export function parseWrk(output: string): Load {
  const line = output.trim().split("\n").at(-1) ?? "";
  if (!line.startsWith("{")) throw new Error(`wrk did not report: ${output.slice(-300)}`);
  const report: Record<string, number> = JSON.parse(line);
  const number = (name: string): number => {
    const value = report[name];
    if (value === undefined) throw new Error(`wrk's report has no ${name}`);
    return value;
  };
  return {
    requests: number("requests"),
    seconds: number("microseconds") / 1e6,
    p50: number("p50") / 1000,
    p99: number("p99") / 1000,
    failed: number("refused") + number("broken"),
  };
}

/**
 * h2load's --log-file: tab-separated start (µs since the epoch), status (-1: broken), µs until the end of the answer.
 * https://nghttp2.org/documentation/h2load.1.html. Throws when it is empty. `seconds` is the length of the run.
 */
export function parseH2loadLog(log: string, seconds: number): Load {
  const rows = log.split("\n").filter(Boolean);
  const times = rows.map((row) => Number(row.split("\t")[2]) / 1000);
  if (times.length === 0 || times.some(Number.isNaN))
    throw new Error(`h2load's log is not readable: ${log.slice(0, 200)}`);
  const failed = rows.filter((row) => !/^[23]\d\d$/.test(row.split("\t")[1] ?? "")).length;
  return { requests: rows.length, seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99), failed };
}

/** What wrk asks for: configs/<name>.lua. */
export type Script = "envelope" | "browser" | "plain";

/** As fast as answers come, over HTTP/1.1: posts the envelope, or gets something as a browser does or uncompressed. */
export function wrk(what: Script, url: string, connections: number, seconds: number): string[] {
  const script = `--script=/bench/configs/${what}.lua`;
  return ["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "--timeout=10s", script, url];
}

/** h2load into a fresh log, which is printed: 'sh -c' so that one call does it all. The last argument is the address. */
export function h2load(name: string, ...args: string[]): string[] {
  const script = `rm -f "$0"; h2load --log-file="$0" "$@" >"$0.out" 2>&1 || { cat "$0.out" >&2; exit 1; }; cat "$0"`;
  return ["sh", "-c", script, `/tmp/${name}.log`, ...args];
}

/**
 * Posts the envelope over HTTP/2, one report at a time on each of many connections. Nginx ends a connection after its
 * 1,000th request (keepalive_requests) and h2load then stops that client: so there are enough of them.
 */
export function h2Envelopes(url: string, seconds: number): string[] {
  const clients = Math.max(32, seconds * 32);
  return h2load("h2", `-c${clients}`, `-D${seconds}`, ...envelope, url);
}

/** One page view after another, asked for as browsers do, `rate` a second: the time a reader waits, not the time in a queue of the bench's own. */
export function pacedPages(url: string, rate: number, seconds: number): string[] {
  return h2load("pages", "--h1", "-c1", `--rps=${rate}`, `-D${seconds}`, accept, url);
}

/** Reports at a steady rate from 32 connections. */
export function pacedEnvelopes(url: string, rate: number, seconds: number): string[] {
  return h2load("flood", "--h1", "-c32", `--rps=${rate / 32}`, `-D${seconds}`, ...envelope, url);
}

/** What proxy/spool/bench/receive.ts prints at its end, one line of JSON; throws when it is missing. */
export function parseIntake(output: string): Load {
  const line = output.trim().split("\n").at(-1) ?? "";
  if (!line.startsWith("{")) throw new Error(`the intake's load did not report: ${output.slice(-300)}`);
  const { accepted = 0, rejected = 0, seconds = 0, p50_ms = 0, p99_ms = 0 }: Record<string, number> = JSON.parse(line);
  return { requests: accepted + rejected, seconds, p50: p50_ms, p99: p99_ms, failed: rejected };
}

/** Hands envelopes to a spool, for it to deliver to `to`, as the proxy does: as fast as they are acknowledged. */
export function intake(url: string, to: string, connections: number, seconds: number): string[] {
  const settings = { SPOOL_URL: url, SPOOL_DESTINATION: to, CONNECTIONS: connections, SECONDS: seconds };
  const given = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return ["env", ...given, "node", "--disable-warning=ExperimentalWarning", "/spool-bench/receive.ts"];
}

const accept = "--header=accept-encoding: gzip, deflate, br, zstd";
const envelope = ["--data=/run-data/envelope", "--header=content-type: text/plain;charset=UTF-8"];
