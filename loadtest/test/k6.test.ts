import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Summary } from "../lib/summary.ts";
import { FAULTS, type Plant } from "./faults.ts";
import { startStub } from "./stub.ts";

// The same table as in planted-faults.test.ts, by the real thing and its exit code. Skipped where there is no k6.

const hasK6 = spawnSync("k6", ["version"]).status === 0;
/** k6's own: a threshold was crossed. */
const CROSSED = 99;
/** k6's own: the script stopped the run. */
const STOPPED = 108;
/** A slow target is tested by a few visits, not by all journeys five times over. */
const BRIEF = { RATE: "4", DURATION: "5s" };

interface Run {
  code: number | null;
  output: string;
  summary?: Summary;
}

async function k6(script: string, env: Record<string, string>): Promise<Run> {
  const out = mkdtempSync(join(tmpdir(), "culvert-loadtest-"));
  const root = join(import.meta.dirname, "..");
  // Nothing of this process's environment but these: vitest sets a BASE_URL of its own.
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

async function against(plant: Plant): Promise<Run> {
  const stub = await startStub(plant);
  try {
    return await (plant.delayMs
      ? k6("average.ts", { BASE_URL: stub.url, ...BRIEF })
      : k6("smoke.ts", { BASE_URL: stub.url }));
  } finally {
    await stub.stop();
  }
}

describe.skipIf(!hasK6)("k6 (needs k6 on PATH)", { timeout: 160_000 }, () => {
  it("exits with 0 from a target without faults", async () => {
    const { code, output, summary } = await against({});
    expect(output).toContain("PASSED");
    expect([code, summary?.passed]).toEqual([0, true]);
  });

  for (const [fault, { plant, caughtBy }] of Object.entries(FAULTS)) {
    it(`exits with ${CROSSED}: ${fault}`, async () => {
      const { code, summary } = await against(plant);
      const red = summary?.checks.filter(({ verdict }) => verdict === "failed").map(({ id }) => id as string) ?? [];
      if (summary?.speed.some(({ name, ok }) => name === "page" && !ok)) red.push("page speed");
      expect(red).toEqual(expect.arrayContaining(caughtBy));
      expect([code, summary?.passed]).toEqual([CROSSED, false]);
    });
  }

  it.each([
    [{ RATE: "fast" }, "is out of range: give a number"],
    [{ BASE_URL: "https://no.such.host.invalid" }, "host not found"],
    [{ BASE_URL: "http://127.0.0.1:1" }, "nothing listens there"],
  ])("stops with one line and no load: %j", async (env, words) => {
    const { code, output } = await k6("average.ts", env);
    expect(code).toBe(STOPPED);
    expect(output.split("\n").filter((line) => line.includes("test aborted"))).toHaveLength(1);
    expect(output).toContain(words);
  });
});
