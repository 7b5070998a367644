import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { vi } from "vitest";
import { journeysFor } from "../journeys/index.ts";
import { readOptions } from "../lib/options.ts";
import { suite } from "../suite/suite.ts";
import type { Summary } from "../suite/summary.ts";
import exec, { endOfTest, iterations, samples } from "./k6-shim.ts";

export const hasK6 = spawnSync("k6", ["version"]).status === 0;

export interface Outcome {
  summary: Summary | undefined;
  /** The text of the summary; of k6, everything that it printed. */
  output: string;
  /** k6's exit code; of the shim, 0 or 99 as k6 would exit. */
  code: number | null;
}

const root = join(import.meta.dirname, "..");

/** Starts the reader as a recording ingest on a free port. */
export async function startReader(env: Record<string, string> = {}): Promise<{ url: string; stop: () => void }> {
  const child: ChildProcess = spawn(process.execPath, [join(root, "reader.mjs")], {
    env: { ...process.env, PORT: "0", HOST: "127.0.0.1", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise((line) => child.stdout && createInterface(child.stdout).once("line", line));
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}

/** Runs a profile with the real k6. */
export async function runK6(profile: string, env: Record<string, string>): Promise<Outcome> {
  const out = mkdtempSync(join(tmpdir(), "culvert-loadtest-"));
  // Only these variables of this process: vitest sets its own BASE_URL.
  const { PATH = "", HOME = "" } = process.env;
  const own = {
    PATH,
    HOME,
    K6_NO_USAGE_REPORT: "true",
    K6_AUTO_EXTENSION_RESOLUTION: "false",
    OUT: out,
    PROFILE: profile,
    ...env,
  };
  const child = spawn("k6", ["run", "--quiet", "main.ts"], { cwd: root, env: own, timeout: 150_000 });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const code = await new Promise<number | null>((exited) => child.on("exit", exited));
  const summary = readSummary(join(out, "summary.json"));
  rmSync(out, { recursive: true });
  return { code, output, summary };
}

function readSummary(file: string): Summary | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Runs a profile with the shim: each journey five times, or as often as `rounds` says, by one virtual user. */
export async function runShim(profile: string, env: Record<string, string>, rounds = 5): Promise<Outcome> {
  samples.length = 0;
  vi.stubGlobal("__ENV", { OUT: "out", ...env });
  try {
    const { options, setup, iteration, teardown, handleSummary } = suite(profile);
    const data = await setup();
    const journeys = journeysFor(readOptions(env)).length;
    for (let at = 0; at < rounds * journeys; at++) {
      exec.scenario.iterationInTest = at;
      exec.vu.metrics.tags = {};
      await iteration(data);
      iterations.add(1);
    }
    await teardown(data);
    const end = endOfTest(options.thresholds);
    const files = handleSummary(end);
    const summary = JSON.parse(files["out/summary.json"] ?? "");
    return { summary, output: files["out/summary.txt"] ?? "", code: end.crossed ? 99 : 0 };
  } finally {
    vi.unstubAllGlobals();
  }
}
