import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { vi } from "vitest";
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
    const script = suite(profile);
    const data = await script.setup();
    const names = Object.keys(script.options.scenarios);
    const scenarios = names[0] === "smoke" ? Array.from({ length: journeyCount(script) }, () => "smoke") : names;
    for (let at = 0; at < rounds * scenarios.length; at++)
      await runIteration(script, scenarios[at % scenarios.length] ?? "", at, data);
    await script.teardown(data);
    return outcomeOf(script);
  } finally {
    vi.unstubAllGlobals();
  }
}

type Script = ReturnType<typeof suite>;

const journeyCount = ({ options }: Script) =>
  Number((options.scenarios.smoke as { iterations: number }).iterations) / 5;

/** Runs one iteration of a scenario. */
export async function runIteration(
  script: Script,
  scenario: string,
  iteration: number,
  data: Awaited<ReturnType<Script["setup"]>>,
) {
  Object.assign(exec.scenario, { name: scenario, iterationInTest: iteration });
  exec.vu.metrics.tags = {};
  await script.iteration(data);
  iterations.add(1);
}

/** The summary of everything recorded so far, and the code with which k6 would exit. */
export function outcomeOf({ options, handleSummary }: Script): Outcome {
  const data = endOfTest(options.thresholds);
  const crossed = Object.values(data.metrics).some(({ thresholds = {} }) =>
    Object.values(thresholds).some(({ ok }) => !ok),
  );
  const files = handleSummary(data);
  return {
    summary: JSON.parse(files["out/summary.json"] ?? ""),
    output: files["out/summary.txt"] ?? "",
    code: crossed ? 99 : 0,
  };
}
