import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { JOURNEYS } from "../journeys/index.ts";
import { readOptions } from "../lib/options.ts";
import { balanceLimit } from "../suite/balance.ts";
import type { ProfileName } from "../suite/profiles.ts";
import { plannedIterations } from "../suite/scenarios.ts";
import { suite } from "../suite/suite.ts";
import type { Summary } from "../suite/summary.ts";
import type { Fault } from "./faults.ts";
import exec, { endOfTest, iterations, samples } from "./k6-shim.ts";
import { startStub } from "./stub.ts";

// Runs the suite with a shim in place of k6: which samples suite.ts and k6-client.ts record, and which thresholds those cross.

let stub: Awaited<ReturnType<typeof startStub>>;

async function target(fault: Fault, env: Record<string, string> = {}): Promise<void> {
  stub = await startStub(fault);
  vi.stubGlobal("__ENV", { BASE_URL: stub.url, OUT: "out", PAGE_P95_MS: "60000", TUNNEL_P95_MS: "60000", ...env });
}

beforeEach(() => {
  samples.length = 0;
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  await stub?.stop();
});

type Script = ReturnType<typeof suite>;

async function runIteration(
  script: Script,
  scenario: string,
  iteration: number,
  data: { probedTraceIds: string[] },
): Promise<void> {
  Object.assign(exec.scenario, { name: scenario, iterationInTest: iteration });
  exec.vu.metrics.tags = {};
  await script.iteration(data);
  iterations.add(1);
}

/** The summary, and the crossed thresholds, which determine k6's exit status. */
function resultOf({ options, handleSummary }: Script): { summary: Summary; crossed: string[] } {
  const data = endOfTest(options.thresholds);
  const crossed = Object.entries(data.metrics).filter(([, { thresholds = {} }]) =>
    Object.values(thresholds).some(({ ok }) => !ok),
  );
  const summary = JSON.parse(handleSummary(data)["out/summary.json"] ?? "");
  return { summary, crossed: crossed.map(([name]) => name) };
}

/** Without the check that compares durations, which depend on this machine. */
async function smoke() {
  vi.spyOn(JOURNEYS.independence, "run").mockImplementation(async (client) => client.check("page_independent", true));
  const script = suite("smoke");
  const data = await script.setup();
  const { iterations: total } = script.options.scenarios.smoke as { iterations: number };
  for (let at = 0; at < total; at++) await runIteration(script, "smoke", at, data);
  return resultOf(script);
}

/** Virtual users that each request a page once; it was not cached yet when probed. */
async function newUsers(count: number) {
  const users = Array.from({ length: count }, () => suite("average"));
  for (const user of users) await runIteration(user, "browse", 0, { probedTraceIds: [] });
  return resultOf(users[0] as Script);
}

const ID = /[0-9a-f]{8}/;

describe("the suite in k6", () => {
  it("passes a target without faults, and crosses no threshold", async () => {
    await target({});
    const { summary, crossed } = await smoke();
    expect([summary.passed, crossed, summary.load.iterations]).toEqual([true, [], 70]);
  });

  it("shows the first failure example with its trace id, but puts no id in a tag", async () => {
    await target({ flipSampled: true, echo: true, softNotFound: true });
    const { summary } = await smoke();
    const failed = summary.checks.filter(({ result }) => result === "failed");
    expect(failed.map(({ id }) => id)).toEqual(expect.arrayContaining(["continued_sampled", "not_found_status"]));
    expect(failed.find(({ id }) => id === "continued_sampled")?.example?.traceId).toMatch(/^10ad7e5710ad[0-9a-f]{20}$/);
    expect(samples.flatMap(({ tags }) => Object.values(tags)).filter((value) => ID.test(value))).toEqual([]);
  });

  it("fails if a journey throws, though all other checks pass", async () => {
    await target({});
    vi.spyOn(JOURNEYS.redirect, "run").mockRejectedValueOnce(new Error("broken"));
    const { summary, crossed } = await smoke();
    expect([summary.passed, crossed]).toEqual([false, ["iteration_ok"]]);
    const failed = summary.checks.filter(({ result }) => result !== "passed");
    expect(failed).toMatchObject([{ id: "iteration_ok", failed: 1, example: { text: "redirect: Error: broken" } }]);
  });

  it("fails if ids are shared only between virtual users, none of which can detect it", async () => {
    const load = { RATE: "1", DURATION: "30s" };
    const enough = balanceLimit(plannedIterations("average", readOptions(load))) + 1;
    await target({ cachedPage: true }, load);
    const { summary, crossed } = await newUsers(enough);
    expect(summary.checks.find(({ id }) => id === "fresh_unique")).toMatchObject({ passed: enough, failed: 0 });
    expect(summary.other).toContainEqual(expect.stringMatching(/^trace ids are shared across virtual users: 1 of 32/));
    expect(crossed).toContainEqual(expect.stringMatching(/^trace_id_balance\{slot:/));
  });

  it("counts only requests to the tunnel's path as envelope durations", async () => {
    await target({}, { PAGES: "/products", TUNNEL_PATH: "/prod" });
    await newUsers(1);
    expect(samples.filter(({ metric }) => /^(page|tunnel)_duration$/.test(metric))).toMatchObject([
      { metric: "page_duration" },
    ]);
  });

  it.each([
    ["outage", {}, /^OUTAGE is not set: /],
    ["average", { RATE: "fast" }, /^RATE .*: give a number/],
    ["average", { PAGES: "/nowhere" }, /\/nowhere responds 404/],
  ] as [ProfileName, Record<string, string>, RegExp][])("stops %s before any load: %j", async (profile, env, words) => {
    await target({}, env);
    await expect((async () => suite(profile).setup())()).rejects.toThrow(words);
  });
});
