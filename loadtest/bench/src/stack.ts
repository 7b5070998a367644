import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { makePair } from "../../../deploy/test/support/certificate.ts";
import type { Plan } from "./open-loop.ts";
import { percentile } from "./statistics.ts";

/** The bench's folder, in which run.sh starts, and that of the output. */
export const bench = process.cwd();
export const output = resolve(bench, "../../.culvert/bench");
/** The longest that a visitor should wait for a page. */
const GOOD_MS = 1000;

/** Runs docker compose with these settings and returns its stdout. */
export async function compose(args: string[], settings: Record<string, string> = {}): Promise<string> {
  // Contenders never share a core with the load generator and the sink, if there are two.
  const env = { ...process.env, LOAD_CORE: cpus().length > 1 ? "1" : "0", ...settings };
  const { stdout } = await promisify(execFile)("docker", ["compose", ...args], { env, maxBuffer: 256 << 20 });
  return stdout.trim();
}

/** Runs a command in a service's container. */
export const exec = (service: string, ...command: string[]) => compose(["exec", "-T", service, ...command]);

/** Starts these services anew. */
export async function start(services: string[], settings?: Record<string, string>): Promise<void> {
  await compose(["down", "--volumes", "--timeout=0"]);
  await compose(["up", "-d", "--wait", "--no-build", ...services], settings);
}

/** Builds all images, and writes the certificate and the bodies that the containers have in /files. */
export async function prepare(): Promise<void> {
  const files = `${output}/files`;
  mkdirSync(files, { recursive: true });
  makePair(`${files}/server`, ["o1.ingest.sentry.io"]);
  const id = "0123456789abcdef0123456789abcdef";
  const header = JSON.stringify({ event_id: id, sent_at: "2026-01-01T00:00:00.000Z", dsn: process.env.SENTRY_DSN });
  // 1.7 kB, as an error with about twenty stack frames.
  const event = { event_id: id, platform: "javascript", level: "error", message: "x".repeat(1_430) };
  const envelope = `${header}\n{"type":"event"}\n${JSON.stringify(event)}`;
  writeFileSync(`${files}/envelope`, envelope);
  writeFileSync(`${files}/envelope.gz`, gzipSync(envelope));
  writeFileSync(`${files}/form`, Buffer.alloc(20_000));
  // 92 KB that decompress to 90 MB of blank lines.
  writeFileSync(`${files}/bomb.gz`, gzipSync(Buffer.concat([Buffer.from("{}\n"), Buffer.alloc(90 << 20, "\n")])));
  await compose(["build", "proxy", "web", "spool", "load", "next-tunnels", "serve-tunnel"]);
}

/** The last line of a program's output, which must be JSON. */
function lastLine(text: string) {
  const line = text.split("\n").at(-1) ?? "";
  if (!/^[[{]/.test(line)) throw new Error(`the load generator printed no results: ${text.slice(-300)}`);
  return JSON.parse(line);
}

/** Requests over HTTP/1.1 as fast as possible. Failed are other answers than 200, broken connections and timeouts. */
export async function wrk(url: string, connections: number, seconds: number, what: "get" | "post") {
  const how = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout=10s", "--script=/bench/configs/wrk.lua"];
  const browser = "--header=Accept-Encoding: gzip, deflate, br, zstd";
  const result: Record<"requests" | "seconds" | "failed", number> = lastLine(
    await exec("load", "wrk", ...how, ...(what === "get" ? [browser] : []), url, "--", what),
  );
  return result;
}

/** Requests at a constant rate, whatever the answers; times of expected answers in ms. */
export async function openLoop(service: string, { expected = 200, ...plan }: Plan & { expected?: number }) {
  const command = ["node", "--disable-warning=ExperimentalWarning", "/bench/src/open-loop.ts", JSON.stringify(plan)];
  const visits: [status: number, milliseconds: number][] = lastLine(await exec(service, ...command));
  const times = visits.filter(([status]) => status === expected).map(([, time]) => time);
  return {
    requests: visits.length,
    failed: visits.length - times.length,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    p99: percentile(times, 0.99),
    /** Expected answers per second that came within GOOD_MS. */
    goodPerSecond: times.filter((time) => time <= GOOD_MS).length / plan.seconds,
  };
}
