import { afterEach, describe, expect, it, vi } from "vitest";
import { JOURNEYS } from "../journeys/index.ts";
import { SCHEMA } from "../suite/plan.ts";
import { samples } from "./k6-shim.ts";
import { runShim } from "./run-suite.ts";
import { type Fault, startStub } from "./stub.ts";

// Runs the suite with a shim in place of k6: which samples it records, and which thresholds those cross.

let stub: Awaited<ReturnType<typeof startStub>>;

async function target(fault: Fault = {}): Promise<{ BASE_URL: string }> {
  stub = await startStub(fault);
  return { BASE_URL: stub.url };
}

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  await stub?.stop();
});

describe("the suite in k6", () => {
  it("puts ids in no tag but that of a failure", async () => {
    await runShim("smoke", { ...(await target({ app: "flips sampled" })) });
    const others = samples
      .filter(({ metric }) => metric !== "group_duration")
      .flatMap(({ tags }) => Object.values(tags));
    expect(others.filter((value) => /[0-9a-f]{8}/.test(value))).toEqual([]);
  });

  it("fails if a journey throws, though all other checks pass", async () => {
    const env = { ...(await target()), ONLY: "redirect" };
    vi.spyOn(JOURNEYS.redirect, "run").mockRejectedValueOnce(new Error("broken"));
    const { summary, code } = await runShim("smoke", env);
    expect([summary?.result, code]).toEqual(["integrity", 99]);
    const failed = summary?.checks.filter(({ result }) => result !== "passed");
    expect(failed).toMatchObject([{ id: "iteration_ok", failed: 1, examples: [{ text: "redirect: Error: broken" }] }]);
  });

  it("judges no answer that it did not get: an overload breaks no integrity", async () => {
    const overload = await target({
      response: (answer, { count }) => count > 1 && count % 3 === 0 && Object.assign(answer, { status: 503, body: "" }),
    });
    const { summary } = await runShim("smoke", { ...overload });
    expect(summary).toMatchObject({ result: "availability", integrity: { broken: 0 } });
  });

  it.each([
    ["average", { PAGES: "/nowhere" }, /\/nowhere responds 404/],
    [
      "average",
      { SENTRY_DSN: "https://k@o1.ingest.sentry.io/7" },
      /^this run stores about \d+ events in project 7 at o1.ingest.sentry.io: set SEND_EVENTS=yes/,
    ],
    ["average", { INGEST: "http://127.0.0.1:1" }, /^INGEST http:\/\/127.0.0.1:1 does not answer/],
    ["nope", {}, /^PROFILE "nope" is not a profile: use smoke, average/],
    ["average", { BASELINE: "{}" }, /^BASELINE "\{\}" is not a summary.json/],
    [
      "smoke",
      { BASELINE: JSON.stringify({ schema: SCHEMA, profile: "average", durations: [] }) },
      /^BASELINE ".*" is not a summary.json of PROFILE smoke/,
    ],
  ] as [string, Record<string, string>, RegExp][])("stops %s before any load: %j", async (profile, env, words) => {
    await expect(runShim(profile, { ...(await target()), ...env })).rejects.toThrow(words);
  });
});
