import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { balanceLimit } from "../lib/balance.ts";
import { JOURNEYS } from "../lib/journeys.ts";
import { readKnobs } from "../lib/knobs.ts";
import { plannedVisits } from "../lib/scenarios.ts";
import type { ProfileName } from "../lib/stages.ts";
import { suite } from "../lib/suite.ts";
import type { Summary } from "../lib/summary.ts";
import type { Plant } from "./faults.ts";
import exec, { endOfTest, iterations, samples } from "./k6-shim.ts";
import { startStub } from "./stub.ts";

// The half of the verdict that is k6's, without k6: what suite.ts and k6-visitor.ts book, and what the thresholds make of it.

let stub: Awaited<ReturnType<typeof startStub>>;

async function target(plant: Plant, env: Record<string, string> = {}): Promise<void> {
  stub = await startStub(plant);
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

async function visit(script: Script, scenario: string, iteration: number, found: { known: string[] }): Promise<void> {
  Object.assign(exec.scenario, { name: scenario, iterationInTest: iteration });
  exec.vu.metrics.tags = {};
  await script.visit(found);
  iterations.add(1);
}

/** The verdict, and the thresholds that were crossed, which are what makes k6's exit status. */
function judged({ options, handleSummary }: Script): { summary: Summary; crossed: string[] } {
  const data = endOfTest(options.thresholds);
  const crossed = Object.entries(data.metrics).filter(([, { thresholds = {} }]) =>
    Object.values(thresholds).some(({ ok }) => !ok),
  );
  const summary = JSON.parse(handleSummary(data)["out/summary.json"] ?? "");
  return { summary, crossed: crossed.map(([name]) => name) };
}

/** Without what judges times, which are this machine's. */
async function smoke() {
  vi.spyOn(JOURNEYS.independence, "run").mockImplementation(async (visitor) => visitor.check("page_independent", true));
  const script = suite("smoke");
  const found = await script.setup();
  const { iterations: visits } = script.options.scenarios.smoke as { iterations: number };
  for (let at = 0; at < visits; at++) await visit(script, "smoke", at, found);
  return judged(script);
}

/** Newcomers, each a virtual user of its own, on a page that was not cached yet when the scout came. */
async function newcomers(count: number) {
  const users = Array.from({ length: count }, () => suite("average"));
  for (const user of users) await visit(user, "browse", 0, { known: [] });
  return judged(users[0] as Script);
}

const ID = /[0-9a-f]{8}/;

describe("the suite in k6", () => {
  it("passes a target without faults, and crosses no threshold", async () => {
    await target({});
    const { summary, crossed } = await smoke();
    expect([summary.passed, crossed, summary.load.visits]).toEqual([true, [], 70]);
  });

  it("tells the first failing example with its trace id, yet puts no id in a tag", async () => {
    await target({ flipSampled: true, echo: true, softNotFound: true });
    const { summary } = await smoke();
    const failed = summary.checks.filter(({ verdict }) => verdict === "failed");
    expect(failed.map(({ id }) => id)).toEqual(expect.arrayContaining(["continued_sampled", "not_found_status"]));
    expect(failed.find(({ id }) => id === "continued_sampled")?.example?.traceId).toMatch(/^10ad7e5710ad[0-9a-f]{20}$/);
    expect(samples.flatMap(({ tags }) => Object.values(tags)).filter((value) => ID.test(value))).toEqual([]);
  });

  it("fails when a journey throws, though all other checks pass", async () => {
    await target({});
    vi.spyOn(JOURNEYS.redirect, "run").mockRejectedValueOnce(new Error("broken"));
    const { summary, crossed } = await smoke();
    expect([summary.passed, crossed]).toEqual([false, ["iteration_ok"]]);
    const failed = summary.checks.filter(({ verdict }) => verdict !== "passed");
    expect(failed).toMatchObject([{ id: "iteration_ok", failed: 1, example: { text: "redirect: Error: broken" } }]);
  });

  it("fails when ids are shared only across virtual users, none of whom can notice", async () => {
    const load = { RATE: "1", DURATION: "30s" };
    const enough = balanceLimit(plannedVisits("average", readKnobs(load))) + 1;
    await target({ cachedPage: true }, load);
    const { summary, crossed } = await newcomers(enough);
    expect(summary.checks.find(({ id }) => id === "fresh_unique")).toMatchObject({ passed: enough, failed: 0 });
    expect(summary.other).toContainEqual(expect.stringMatching(/^trace ids are shared across virtual users: 1 of 32/));
    expect(crossed).toContainEqual(expect.stringMatching(/^trace_id_balance\{slot:/));
  });

  it("counts as a report's time only what went to the tunnel's own path", async () => {
    await target({}, { PAGES: "/products", TUNNEL_PATH: "/prod" });
    await newcomers(1);
    expect(samples.filter(({ metric }) => /^(page|tunnel)_duration$/.test(metric))).toMatchObject([
      { metric: "page_duration" },
    ]);
  });

  it.each([
    ["outage", {}, /^OUTAGE is not set: /],
    ["average", { RATE: "fast" }, /^RATE .*: give a number/],
    ["average", { PAGES: "/nowhere" }, /\/nowhere answers 404/],
  ] as [ProfileName, Record<string, string>, RegExp][])("stops %s before any load: %j", async (profile, env, words) => {
    await target({}, env);
    await expect((async () => suite(profile).setup())()).rejects.toThrow(words);
  });
});
