import { afterEach, describe, expect, it, vi } from "vitest";
import { JOURNEYS } from "../journeys/index.ts";
import { readOptions } from "../lib/options.ts";
import { balanceLimit } from "../suite/balance.ts";
import type { ProfileName } from "../suite/profiles.ts";
import { plannedIterations } from "../suite/scenarios.ts";
import { suite } from "../suite/suite.ts";
import { samples } from "./k6-shim.ts";
import { outcomeOf, runIteration, runShim } from "./run-suite.ts";
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
  it("shows a failure with its request and trace", async () => {
    const { summary } = await runShim("smoke", { ...(await target({ app: "flips sampled" })), ONLY: "continued" });
    const [check] = summary?.checks.filter(({ result }) => result === "failed") ?? [];
    expect(check?.examples[0]).toMatchObject({
      at: "GET /",
      traceId: expect.stringMatching(/^10ad7e5710ad[0-9a-f]{20}$/),
    });
  });

  it("puts ids in no tag but that of a failure", async () => {
    await runShim("smoke", { ...(await target({ app: "flips sampled" })), SKIP: "independence" });
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
    const { summary } = await runShim("smoke", { ...overload, SKIP: "independence" });
    expect(summary).toMatchObject({ result: "availability", integrity: { broken: 0 } });
  });

  it("fails if ids are shared only between virtual users, none of which can detect it", async () => {
    const env = { ...(await target({ app: "cached page" })), RATE: "1", DURATION: "30s", ONLY: "browse" };
    samples.length = 0;
    vi.stubGlobal("__ENV", { OUT: "out", ...env });
    const enough = balanceLimit(plannedIterations("average", readOptions(env))) + 1;
    const users = Array.from({ length: enough }, () => suite("average"));
    // The page was not cached yet when it was probed.
    for (const user of users) await runIteration(user, "browse", 0, { probed: {}, run: "" });
    const { summary, code } = outcomeOf(users[0] as (typeof users)[0]);
    expect(summary?.checks.find(({ id }) => id === "fresh_unique")).toMatchObject({ passed: enough, failed: 0 });
    expect(summary?.other).toContainEqual(expect.stringMatching(/^trace ids are shared across virtual users: 1 of 32/));
    expect([summary?.exit, code]).toEqual([20, 99]);
  });

  it("compares with a former summary", async () => {
    const env = { ...(await target()), ONLY: "browse", RATE: "8", DURATION: "5s" };
    const first = await runShim("average", env, 25);
    const slower = {
      ...first.summary,
      durations: first.summary?.durations.map((row) => ({ ...row, p95: row.p95 + 5000 })),
    };
    const second = await runShim("average", { ...env, BASELINE: JSON.stringify(slower) }, 25);
    expect(second.summary?.durations[0]).toMatchObject({ change: "improvement" });
    const wrong = runShim("smoke", { ...env, BASELINE: JSON.stringify(slower) });
    await expect(wrong).rejects.toThrow(/^BASELINE ".*" is of PROFILE average: give one of smoke/);
  });

  it.each([
    ["outage", {}, /^OUTAGE is not set: /],
    ["average", { RATE: "fast" }, /^RATE .*: give a number/],
    ["average", { PAGES: "/nowhere" }, /\/nowhere responds 404/],
    [
      "average",
      { SENTRY_DSN: "https://k@o1.ingest.sentry.io/7" },
      /^this run stores about \d+ events in project 7 at o1.ingest.sentry.io: set SEND_EVENTS=yes/,
    ],
    ["average", { INGEST: "http://127.0.0.1:1" }, /^INGEST http:\/\/127.0.0.1:1 does not answer/],
    ["average", { LIMITS: "{" }, /^LIMITS /],
    ["average", { BASELINE: "{}" }, /^BASELINE "\{\}" is not a summary.json/],
  ] as [ProfileName, Record<string, string>, RegExp][])("stops %s before any load: %j", async (profile, env, words) => {
    await expect(runShim(profile, { ...(await target()), ...env })).rejects.toThrow(words);
  });
});
