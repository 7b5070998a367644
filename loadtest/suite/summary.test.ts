import { describe, expect, it } from "vitest";
import { AVAILABILITY, STOPS, TIME } from "../lib/client.ts";
import { DECLARED } from "../test/run-suite.ts";
import { readPlan } from "./plan.ts";
import { notRunFiles, summaryFiles, text } from "./report.ts";
import { type RunData, stopOf, summarise } from "./summary.ts";

const RUN = { time: "2026-11-24T00:00:00.000Z", commit: "abc1234", k6: "2.2.0" };

const planOf = (profile = "average", env: Record<string, string> = {}) =>
  readPlan(profile, { ...DECLARED, INGEST: "http://reader", ...env });

/** k6's end-of-test data of a passed run, which each test modifies. */
function goodRun(plan = planOf()): RunData {
  const rates = plan.checks.map((id) => [`checks{check:${id}}`, { values: { passes: 5, fails: 0, rate: 1 } }]);
  const times = plan.rows.map(({ selector }) => [
    TIME + selector,
    { values: { count: 211, med: 26, "p(95)": 180, "p(99)": 235, max: 300 } },
  ]);
  return {
    metrics: {
      ...Object.fromEntries([...rates, ...times]),
      [AVAILABILITY]: { values: { passes: 1204, fails: 0 } },
      [`${AVAILABILITY}{kind:page}`]: { values: { passes: 1000, fails: 0 } },
      // As k6 reports a kind without samples.
      [`${AVAILABILITY}{kind:404}`]: { values: { passes: 0, fails: 0, rate: 0 } },
      iterations: { values: { count: 70 } },
    },
    state: { testRunDurationMs: 9000 },
    setup_data: { run: "r", probed: {} },
  };
}

const CROSSED = { "rate>=1": { ok: false } };
const failed = (run: RunData, id: string, passes: number, fails: number) =>
  Object.assign(run.metrics, { [`checks{check:${id}}`]: { values: { passes, fails }, thresholds: CROSSED } });

const resultOf = (data: RunData, plan = planOf()) => summarise(plan, RUN, data);
const page = `${TIME}{kind:page,name:/}`;

describe("the result", () => {
  it("is passed if every check was measured and passed", () => {
    expect(resultOf(goodRun())).toMatchObject({ result: "passed", exit: 0, other: [] });
    const [, head, integrity, availability] = text(resultOf(goodRun())).split("\n");
    expect(head).toMatch(/^PASSED · average/);
    expect(integrity).toBe("  integrity: 0 broken of 1204 answered");
    expect(availability).toBe("  availability: 100.0 %");
  });

  it.each([
    ["a required check", "checks{check:fresh_unique}", /✗ fresh: no two clients share a trace .*\n +not measured/],
    ["a page", page, /✗ \/ /],
    ["any iteration", "iterations", /nothing was measured/],
  ])("is incomplete without samples of %s, though no threshold was crossed", (_, metric, words) => {
    const run = goodRun();
    delete run.metrics[metric];
    expect(resultOf(run)).toMatchObject({ result: "incomplete", exit: 24 });
    expect(text(resultOf(run))).toMatch(words);
  });

  it("is over the limits if iterations were dropped", () => {
    const run = goodRun();
    run.metrics.dropped_iterations = { values: { count: 500 }, thresholds: CROSSED };
    expect(resultOf(run)).toMatchObject({ result: "limits", other: [expect.stringContaining("were dropped")] });
  });

  it("warns of a page's late first byte, and judges it by LIMITS only", () => {
    const run = goodRun();
    run.metrics["http_req_waiting{kind:page,name:/}"] = { values: { "p(95)": 412 } };
    expect(resultOf(run)).toMatchObject({
      result: "passed",
      warnings: [{ at: "/", text: expect.stringContaining("412 ms") }],
    });
    expect(resultOf(run, planOf("average", { LIMITS: '{"/":{"p95":500,"firstByte":450}}' })).warnings).toEqual([]);
  });

  it("is over the limits if pages become far slower, but not if the load rises until one is crossed", () => {
    const slower = (last: number, profile?: string) => {
      const plan = planOf(profile);
      const run = goodRun(plan);
      for (const [quarter, med] of Object.entries({ first: 20, last }))
        run.metrics[`${TIME}{kind:page,quarter:${quarter}}`] = { values: { med } };
      return resultOf(run, plan).result;
    };
    expect([slower(250), slower(270), slower(270, "breakpoint")]).toEqual(["passed", "limits", "passed"]);
  });

  it("shows the breakpoint, if there was one", () => {
    const plan = planOf("breakpoint", { RATE: "80", DURATION: "60s" });
    const run = goodRun(plan);
    run.state.testRunDurationMs = 30_000;
    expect(resultOf(run, plan).breakpoint).toBeUndefined();
    failed(run, "page_ok", 0, 1);
    expect(text(resultOf(run, plan))).toContain("crossed at about 40 iterations/s");
  });

  const pages = { ACTION_PAGE: "/form", REDIRECT_PAGE: "/old", ECHO_PATH: "off" };
  const open = { ...pages, INGEST: "", ACTION_EXPECT: "", REDIRECT_TO: "", BROWSER: "", TRACE: "" };
  const words = "traces, delivery, results of actions, targets of redirects, browser";

  it("says in its first line what was not verified, and lists disabled journeys", () => {
    const plan = planOf("average", open);
    const said = text(resultOf(goodRun(plan), plan));
    expect(said).toContain(`\nPASSED, but not verified: ${words} · average`);
    expect(said).toContain("? not verified: traces\n    neither declared nor seen: set TRACE, or off");
    expect(said).toContain("disabled: continued, forwarded, concurrent\n");
    expect(text(resultOf(goodRun()))).not.toContain("not verified");
  });

  it("is not verified if a TARGET file declares nothing about something; off is a declaration", () => {
    const plan = planOf("average", { ...open, TARGET: "shop.env" });
    expect(resultOf(goodRun(plan), plan)).toMatchObject({ result: "incomplete", exit: 24 });
    expect(text(resultOf(goodRun(plan), plan))).toContain(`\nNOT VERIFIED: ${words} · average`);
    const off = { INGEST: "off", ACTION_EXPECT: "off", REDIRECT_TO: "off", TRACE: "off", BROWSER: "off" };
    const declared = planOf("average", { ...open, ...off, TARGET: "shop.env" });
    expect(resultOf(goodRun(declared), declared)).toMatchObject({ result: "passed", unverified: [] });
  });
});

it("says why a run has no result, in its files, too", () => {
  const stop = (more: Partial<RunData>) => stopOf({ ...goodRun(), ...more }, planOf().options);
  expect(stop({})).toBe("");
  expect(stop({ setup_data: { run: "", probed: {}, problem: "no target" } })).toBe("no target");
  expect(stop({ setup_data: undefined })).toMatch(/setup failed/);
  expect(stop({ metrics: { [STOPS]: { values: { count: 1 } } } })).toMatch(/^INGEST http:\/\/reader failed/);
  const files = notRunFiles("smoke", 'RATE "fast"', "out");
  expect(files["out/summary.txt"]).toBe('NOT RUN · smoke: RATE "fast"\n');
  expect(JSON.parse(files["out/summary.json"] ?? "")).toMatchObject({ exit: 108, problem: 'RATE "fast"' });
});

describe("the files", () => {
  it("are the text alone, or with a folder text and JSON", () => {
    expect(Object.keys(summaryFiles(resultOf(goodRun()), ""))).toEqual(["stdout"]);
    const { stdout, ...files } = summaryFiles(resultOf(goodRun()), "out");
    expect(stdout).toBe(files["out/summary.txt"]);
    expect(Object.keys(files).join()).toBe("out/summary.txt,out/summary.json");
    const facts = { profile: "average", exit: 0, settings: { dsn: "ingest/1" } };
    expect(JSON.parse(files["out/summary.json"] ?? "")).toMatchObject({ ...RUN, ...facts });
  });
});
