import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Summary } from "../suite/summary.ts";
import { FAULTS, type Fault } from "./faults.ts";
import { startStub } from "./stub.ts";

// The same table as in fault-injection.test.ts, with the real k6 and its exit code. Skipped if k6 is not installed.

const hasK6 = spawnSync("k6", ["version"]).status === 0;
/** k6's exit code if a threshold was crossed. */
const CROSSED = 99;
/** k6's exit code if the script stopped the run. */
const STOPPED = 108;
/** A slow target is tested with a few iterations instead of every journey five times. */
const BRIEF = { RATE: "4", DURATION: "5s" };

interface Run {
  code: number | null;
  output: string;
  summary?: Summary;
}

async function k6(script: string, env: Record<string, string>): Promise<Run> {
  const out = mkdtempSync(join(tmpdir(), "culvert-loadtest-"));
  const root = join(import.meta.dirname, "..");
  // Only these variables of this process: vitest sets its own BASE_URL.
  const { PATH = "", HOME = "" } = process.env;
  const own = { PATH, HOME, K6_NO_USAGE_REPORT: "true", K6_AUTO_EXTENSION_RESOLUTION: "false", OUT: out, ...env };
  const child = spawn("k6", ["run", "--quiet", script], {
    cwd: root,
    env: own,
    timeout: 150_000,
  });
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

async function against(fault: Fault): Promise<Run> {
  const stub = await startStub(fault);
  try {
    return await (fault.delayMs
      ? k6("average.ts", { BASE_URL: stub.url, ...BRIEF })
      : k6("smoke.ts", { BASE_URL: stub.url }));
  } finally {
    await stub.stop();
  }
}

describe.skipIf(!hasK6)("k6 (needs k6 on PATH)", { timeout: 160_000 }, () => {
  it("exits with 0 for a target without faults", async () => {
    const { code, output, summary } = await against({});
    expect(output).toContain("PASSED");
    expect([code, summary?.passed]).toEqual([0, true]);
  });

  for (const [name, { fault, detectedBy }] of Object.entries(FAULTS)) {
    it(`exits with ${CROSSED}: ${name}`, async () => {
      const { code, summary } = await against(fault);
      const failed = summary?.checks.filter(({ result }) => result === "failed").map(({ id }) => id as string) ?? [];
      if (summary?.durations.some(({ name, ok }) => name === "page" && !ok)) failed.push("page duration");
      expect(failed).toEqual(expect.arrayContaining(detectedBy));
      expect([code, summary?.passed]).toEqual([CROSSED, false]);
    });
  }

  it.each([
    [{ RATE: "fast" }, "is out of range: give a number"],
    [{ BASE_URL: "https://no.such.host.invalid" }, "host not found"],
    [{ BASE_URL: "http://127.0.0.1:1" }, "connection refused: is the stack up"],
  ])("stops with one line and no load: %j", async (env, words) => {
    const { code, output } = await k6("average.ts", env);
    expect(code).toBe(STOPPED);
    expect(output.split("\n").filter((line) => line.includes("test aborted"))).toHaveLength(1);
    expect(output).toContain(words);
  });
});
