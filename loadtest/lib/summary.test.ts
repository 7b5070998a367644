import { describe, expect, it } from "vitest";
import { CHECKS, type CheckId } from "./checks.ts";
import { exampleName, exampleOf, traceMetrics, traceNumbers } from "./examples.ts";
import { junit } from "./junit.ts";
import { readKnobs } from "./knobs.ts";
import { reports } from "./reports.ts";
import { type RunData, summarise } from "./summary.ts";
import { text } from "./text.ts";
import { demandedChecks } from "./thresholds.ts";

const knobs = readKnobs({});
const TRACE = "10ad7e5710ad00000000ffffffff0001";
const OTHER = "0".repeat(31).concat("1");

/** What k6 hands over after a run in which all went well, to be spoilt by each test. */
function goodRun(): RunData {
  const rates = demandedChecks("smoke", knobs).map((id) => [id, { values: { passes: 5, fails: 0, rate: 1 } }]);
  return {
    metrics: {
      ...Object.fromEntries(rates),
      iterations: { values: { count: 70 } },
      http_reqs: { values: { count: 756 } },
      page_duration: { values: { count: 211, med: 26, "p(95)": 180, "p(99)": 235 } },
      tunnel_duration: { values: { count: 420, med: 17, "p(95)": 105, "p(99)": 181 } },
      traces_given: { values: { count: 65 } },
      traces_sent: { values: { count: 20 } },
    },
    state: { testRunDurationMs: 9000 },
    root_group: { groups: [] },
  };
}

/** Fails a check in a virtual user, as k6's data tells of it. */
function fail(run: RunData, id: CheckId, user: number, text: string, traceId: string): void {
  run.root_group.groups.push({ name: exampleName(id, user, text) });
  for (const [part, number] of traceNumbers(user, traceId).entries()) {
    const name = traceMetrics(id)[part] ?? "";
    run.metrics[name] = {
      values: { min: Math.min(number, run.metrics[name]?.values.min ?? Number.POSITIVE_INFINITY) },
    };
  }
}

const judged = (data: RunData) => summarise("smoke", knobs, data);

describe("the verdict", () => {
  it("is good when every check was measured and passed", () => {
    expect(judged(goodRun())).toMatchObject({ passed: true, other: [] });
    expect(text(judged(goodRun()))).toContain("PASSED  smoke");
  });

  it("is bad when a check failed once, with the first example and its trace", () => {
    const run = goodRun();
    run.metrics.continued_trace = { values: { passes: 99, fails: 1 } };
    fail(run, "continued_trace", 7, "a later one", OTHER);
    fail(run, "continued_trace", 3, "/: the page is in trace b", TRACE);
    const summary = judged(run);
    expect(summary.passed).toBe(false);
    expect(text(summary)).toContain(`first: /: the page is in trace b [trace ${TRACE}]`);
    expect(text(summary)).not.toContain("a later one");
    expect(junit(summary)).toContain(`<failure message="1 of 100: /: the page is in trace b [trace ${TRACE}]"/>`);
  });

  it("lets a timing check miss its share of times and no more", () => {
    const run = goodRun();
    run.metrics.page_independent = { values: { passes: 3, fails: 1 } };
    expect(judged(run).passed).toBe(true);
    run.metrics.page_independent = { values: { passes: 2, fails: 1 } };
    expect(judged(run).passed).toBe(false);
  });

  it("is bad when a demanded check has no samples, though no threshold was crossed", () => {
    const run = goodRun();
    delete run.metrics.fresh_unique;
    expect(judged(run).passed).toBe(false);
    expect(text(judged(run))).toMatch(/\? fresh: no two visitors share a trace .*not measured/);
    expect(junit(judged(run))).toContain('<failure message="not measured"/>');
  });

  it("is bad when nothing was measured at all, and says just that", () => {
    const nothing = { metrics: {}, state: { testRunDurationMs: 10 }, root_group: { groups: [] } };
    expect(judged(nothing).passed).toBe(false);
    expect(text(judged(nothing))).toContain("nothing was measured");
    expect(text(judged(nothing)).trim().split("\n")).toHaveLength(2);
  });

  it("is bad when pages were slow, or never timed", () => {
    const run = goodRun();
    run.metrics.page_duration = { values: { count: 9, "p(95)": knobs.pageP95 } };
    expect(judged(run)).toMatchObject({ passed: false, speed: [{ ok: false }, { ok: true }] });
    delete run.metrics.page_duration;
    expect(judged(run).passed).toBe(false);
  });

  it.each([
    ["trace_id_balance{slot:3}", "shared across virtual users"],
    ["dropped_iterations", "were never made"],
    ["something_new", "limit crossed: something_new"],
  ])("is bad when %s crossed its limit", (metric, words) => {
    const run = goodRun();
    run.metrics[metric] = { values: { count: 500 }, thresholds: { "count<=100": { ok: false } } };
    expect(judged(run).passed).toBe(false);
    expect(text(judged(run))).toContain(words);
  });

  it("says where the breakpoint was, if there was one", () => {
    const run = goodRun();
    run.state.testRunDurationMs = 30_000;
    const half = readKnobs({ RATE: "80", DURATION: "60s" });
    expect(summarise("breakpoint", half, run).brokeAt).toBeUndefined();
    run.metrics.page_ok = { values: { passes: 0, fails: 1 } };
    expect(text(summarise("breakpoint", half, run))).toContain("crossed at about 40 visits/s");
    expect(summarise("average", half, run).brokeAt).toBeUndefined();
  });

  it("says of an outage by hand that nobody saw the ingest down", () => {
    const word = (OUTAGE: string) => text(summarise("outage", readKnobs({ OUTAGE }), goodRun()));
    expect(word("by-hand")).toContain("? not proven: that the ingest was down");
    expect(word("switched")).not.toContain("not proven");
  });

  it("names what was switched off", () => {
    const few = readKnobs({ ACTION_PAGE: "off" });
    const run = goodRun();
    delete run.metrics.action_ok;
    expect(text(summarise("smoke", few, run))).toContain("switched off: action");
    expect(summarise("smoke", few, run).passed).toBe(true);
  });
});

describe("an example", () => {
  const none = { metrics: {}, root_group: { groups: [] } };
  const through = (name: string) => exampleOf("page_ok", { ...none, root_group: { groups: [{ name }] } });

  it("survives the way through a group's name, which may not contain ::", () => {
    const name = exampleName("page_ok", 2, "a::b\n  c|d");
    expect(name).not.toContain("::");
    expect(through(name)).toEqual({ check: "page_ok", text: "a: :b c|d", traceId: "" });
  });

  it("shows of an id what tells it from others, for the name is a tag", () => {
    expect(through(exampleName("page_ok", 1, `/: in trace ${TRACE}, 404 by /gone-0123456789ab`))?.text).toBe(
      "/: in trace 10ad7e…, 404 by /gone-012345…",
    );
  });

  it("has its own trace, never one pieced together from two users', nor another's", () => {
    const run = goodRun();
    fail(run, "page_ok", 9, "of nine", "f".repeat(32));
    fail(run, "page_ok", 4, "of four", TRACE);
    expect(exampleOf("page_ok", run)).toMatchObject({ text: "of four", traceId: TRACE });
    fail(run, "page_ok", 2, "of two, who had none", "");
    expect(exampleOf("page_ok", run)).toMatchObject({ text: "of two, who had none", traceId: "" });
  });

  it("is cut when long, and ignored when it is no example", () => {
    expect(exampleName("page_ok", 1, "x".repeat(5000)).length).toBeLessThan(500);
    expect(through("somebody's group")).toBeUndefined();
    expect(through("first failure|unknown|1|b")).toBeUndefined();
  });
});

describe("the reports", () => {
  it("are the text alone, or with a folder also text, JSON and JUnit files", () => {
    expect(Object.keys(reports(judged(goodRun()), ""))).toEqual(["stdout"]);
    const files = reports(judged(goodRun()), "out");
    expect(Object.keys(files)).toEqual(["stdout", "out/summary.txt", "out/summary.json", "out/junit.xml"]);
    expect(JSON.parse(files["out/summary.json"] ?? "")).toMatchObject({ profile: "smoke", passed: true });
  });

  it("count in JUnit what they list, and escape what XML forbids", () => {
    const run = goodRun();
    run.metrics.hygiene_echo = { values: { passes: 0, fails: 2 } };
    fail(run, "hygiene_echo", 1, `<b a="1">&'\u0000`, "");
    const xml = junit(judged(run));
    expect(xml).toContain("2 of 2: &lt;b a=&quot;1&quot;&gt;&amp;&apos;");
    expect(xml.match(/<testcase /g)).toHaveLength(Number(/tests="(\d+)"/.exec(xml)?.[1]));
    expect(xml.match(/<failure /g)).toHaveLength(Number(/failures="(\d+)"/.exec(xml)?.[1]));
    expect(xml).toContain(CHECKS.tunnel_refused.name);
  });
});
