import { describe, expect, it } from "vitest";
import { CHECKS, type CheckId } from "../lib/checks.ts";
import { readOptions } from "../lib/options.ts";
import { exampleName, exampleOf, traceMetrics, traceNumbers } from "./examples.ts";
import { junit } from "./junit.ts";
import { type RunData, summarise } from "./summary.ts";
import { summaryFiles } from "./summary-files.ts";
import { text } from "./text.ts";
import { requiredChecks } from "./thresholds.ts";

const options = readOptions({});
const TRACE = "10ad7e5710ad00000000ffffffff0001";
const OTHER = "0".repeat(31).concat("1");

/** k6's end-of-test data of a passed run, which each test modifies. */
function goodRun(): RunData {
  const rates = requiredChecks("smoke", options).map((id) => [id, { values: { passes: 5, fails: 0, rate: 1 } }]);
  return {
    metrics: {
      ...Object.fromEntries(rates),
      iterations: { values: { count: 70 } },
      http_reqs: { values: { count: 756 } },
      page_duration: { values: { count: 211, med: 26, "p(95)": 180, "p(99)": 235 } },
      tunnel_duration: { values: { count: 420, med: 17, "p(95)": 105, "p(99)": 181 } },
      traces_received: { values: { count: 65 } },
      traces_sent: { values: { count: 20 } },
    },
    state: { testRunDurationMs: 9000 },
    root_group: { groups: [] },
  };
}

/** Adds a failed check of a virtual user to k6's data. */
function fail(run: RunData, id: CheckId, user: number, text: string, traceId: string): void {
  run.root_group.groups.push({ name: exampleName(id, user, text) });
  for (const [part, number] of traceNumbers(user, traceId).entries()) {
    const name = traceMetrics(id)[part] ?? "";
    run.metrics[name] = {
      values: { min: Math.min(number, run.metrics[name]?.values.min ?? Number.POSITIVE_INFINITY) },
    };
  }
}

const resultOf = (data: RunData) => summarise("smoke", options, data);

describe("the result", () => {
  it("is passed if every check was measured and passed", () => {
    expect(resultOf(goodRun())).toMatchObject({ passed: true, other: [] });
    expect(text(resultOf(goodRun()))).toContain("PASSED  smoke");
  });

  it("is failed if a check failed once, with the first example and its trace", () => {
    const run = goodRun();
    run.metrics.continued_trace = { values: { passes: 99, fails: 1 } };
    fail(run, "continued_trace", 7, "a later one", OTHER);
    fail(run, "continued_trace", 3, "/: the page is in trace b", TRACE);
    const summary = resultOf(run);
    expect(summary.passed).toBe(false);
    expect(text(summary)).toContain(`first: /: the page is in trace b [trace ${TRACE}]`);
    expect(text(summary)).not.toContain("a later one");
    expect(junit(summary)).toContain(`<failure message="1 of 100: /: the page is in trace b [trace ${TRACE}]"/>`);
  });

  it("lets a timing check fail as often as its share allows, and no more", () => {
    const run = goodRun();
    run.metrics.page_independent = { values: { passes: 3, fails: 1 } };
    expect(resultOf(run).passed).toBe(true);
    run.metrics.page_independent = { values: { passes: 2, fails: 1 } };
    expect(resultOf(run).passed).toBe(false);
  });

  it("is failed if a required check has no samples, though no threshold was crossed", () => {
    const run = goodRun();
    delete run.metrics.fresh_unique;
    expect(resultOf(run).passed).toBe(false);
    expect(text(resultOf(run))).toMatch(/\? fresh: no two clients share a trace .*not measured/);
    expect(junit(resultOf(run))).toContain('<failure message="not measured"/>');
  });

  it("is failed if nothing was measured, and says only that", () => {
    const nothing = { metrics: {}, state: { testRunDurationMs: 10 }, root_group: { groups: [] } };
    expect(resultOf(nothing).passed).toBe(false);
    expect(text(resultOf(nothing))).toContain("nothing was measured");
    expect(text(resultOf(nothing)).trim().split("\n")).toHaveLength(2);
  });

  it("is failed if pages were slow or never timed", () => {
    const run = goodRun();
    run.metrics.page_duration = { values: { count: 9, "p(95)": options.maxPageP95Ms } };
    expect(resultOf(run)).toMatchObject({ passed: false, durations: [{ ok: false }, { ok: true }] });
    delete run.metrics.page_duration;
    expect(resultOf(run).passed).toBe(false);
  });

  it.each([
    ["trace_id_balance{slot:3}", "shared across virtual users"],
    ["dropped_iterations", "were dropped"],
    ["something_new", "threshold crossed: something_new"],
  ])("is failed if %s crossed its threshold", (metric, words) => {
    const run = goodRun();
    run.metrics[metric] = { values: { count: 500 }, thresholds: { "count<=100": { ok: false } } };
    expect(resultOf(run).passed).toBe(false);
    expect(text(resultOf(run))).toContain(words);
  });

  it("shows the breakpoint, if there was one", () => {
    const run = goodRun();
    run.state.testRunDurationMs = 30_000;
    const half = readOptions({ RATE: "80", DURATION: "60s" });
    expect(summarise("breakpoint", half, run).breakpoint).toBeUndefined();
    run.metrics.page_ok = { values: { passes: 0, fails: 1 } };
    expect(text(summarise("breakpoint", half, run))).toContain("crossed at about 40 iterations/s");
    expect(summarise("average", half, run).breakpoint).toBeUndefined();
  });

  it("says of a manual outage that the suite did not verify it", () => {
    const word = (OUTAGE: string) => text(summarise("outage", readOptions({ OUTAGE }), goodRun()));
    expect(word("manual")).toContain("? not verified: that the ingest was down");
    expect(word("automatic")).not.toContain("not verified");
  });

  it("lists disabled journeys", () => {
    const few = readOptions({ ACTION_PAGE: "off" });
    const run = goodRun();
    delete run.metrics.action_ok;
    expect(text(summarise("smoke", few, run))).toContain("disabled: action");
    expect(summarise("smoke", few, run).passed).toBe(true);
  });
});

describe("an example", () => {
  const none = { metrics: {}, root_group: { groups: [] } };
  const through = (name: string) => exampleOf("page_ok", { ...none, root_group: { groups: [{ name }] } });

  it("can be passed as a group's name, which may not contain ::", () => {
    const name = exampleName("page_ok", 2, "a::b\n  c|d");
    expect(name).not.toContain("::");
    expect(through(name)).toEqual({ check: "page_ok", text: "a: :b c|d", traceId: "" });
  });

  it("shortens ids, because the name is a tag", () => {
    expect(through(exampleName("page_ok", 1, `/: in trace ${TRACE}, 404 by /gone-0123456789ab`))?.text).toBe(
      "/: in trace 10ad7e…, 404 by /gone-012345…",
    );
  });

  it("has its own trace, never one combined from two users or another user's", () => {
    const run = goodRun();
    fail(run, "page_ok", 9, "of nine", "f".repeat(32));
    fail(run, "page_ok", 4, "of four", TRACE);
    expect(exampleOf("page_ok", run)).toMatchObject({ text: "of four", traceId: TRACE });
    fail(run, "page_ok", 2, "of two, without a trace", "");
    expect(exampleOf("page_ok", run)).toMatchObject({ text: "of two, without a trace", traceId: "" });
  });

  it("is shortened if long, and ignored if it is not an example", () => {
    expect(exampleName("page_ok", 1, "x".repeat(5000)).length).toBeLessThan(500);
    expect(through("another group")).toBeUndefined();
    expect(through("first failure|unknown|1|b")).toBeUndefined();
  });
});

describe("the summary files", () => {
  it("are the text alone, or with a folder also text, JSON and JUnit files", () => {
    expect(Object.keys(summaryFiles(resultOf(goodRun()), ""))).toEqual(["stdout"]);
    const files = summaryFiles(resultOf(goodRun()), "out");
    expect(Object.keys(files)).toEqual(["stdout", "out/summary.txt", "out/summary.json", "out/junit.xml"]);
    expect(JSON.parse(files["out/summary.json"] ?? "")).toMatchObject({ profile: "smoke", passed: true });
  });

  it("have correct totals in JUnit, and escape what XML forbids", () => {
    const run = goodRun();
    run.metrics.invalid_headers_echo = { values: { passes: 0, fails: 2 } };
    fail(run, "invalid_headers_echo", 1, `<b a="1">&'\u0000`, "");
    const xml = junit(resultOf(run));
    expect(xml).toContain("2 of 2: &lt;b a=&quot;1&quot;&gt;&amp;&apos;");
    expect(xml.match(/<testcase /g)).toHaveLength(Number(/tests="(\d+)"/.exec(xml)?.[1]));
    expect(xml.match(/<failure /g)).toHaveLength(Number(/failures="(\d+)"/.exec(xml)?.[1]));
    expect(xml).toContain(CHECKS.tunnel_rejected.name);
  });
});
