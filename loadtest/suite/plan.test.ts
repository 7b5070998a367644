import { describe, expect, it } from "vitest";
import { JOURNEYS, journeysFor } from "../journeys/index.ts";
import { CHECK_IDS, shareOf } from "../lib/checks.ts";
import { outagePhase, SAMPLES } from "../lib/client.ts";
import { readPlan } from "./plan.ts";
import { PROFILES } from "./profiles.ts";
import { journeyOf, plannedIterations, scenarios } from "./scenarios.ts";
import { thresholds } from "./thresholds.ts";

const profiles = Object.keys(PROFILES);
const planOf = (profile: string, env: Record<string, string> = {}) => readPlan(profile, { OUTAGE: "manual", ...env });

describe("the plan", () => {
  it("requires every check in some journey or profile", () => {
    const required = new Set(profiles.flatMap((profile) => planOf(profile, { INGEST: "http://reader" }).checks));
    // Only some targets' responses have what these two judge.
    const some = ["not_shared", "no_trace_cookie"];
    expect(CHECK_IDS.filter((id) => !required.has(id) && !some.includes(id))).toEqual([]);
  });

  it("has shares that add up to a hundred", () => {
    expect(Object.values(JOURNEYS).reduce((sum, { share }) => sum + share, 0)).toBe(100);
  });

  it("leaves out disabled journeys and their checks", () => {
    const few = planOf("average", { TRACE_PAGE: "off", TUNNEL_PATH: "off" });
    expect(few.checks).not.toContain("tunnel_accepted");
    expect(Object.keys(scenarios(few))).not.toContain("outgoing");
    expect(Object.keys(thresholds(few)).filter((name) => name.includes("envelope"))).toEqual([]);
  });

  it("runs the journeys that SKIP, ONLY and JOURNEYS leave, with their shares", () => {
    const of = (env: Record<string, string>) => journeysFor(planOf("average", env).options);
    expect(of({ ONLY: "browse,assets" })).toEqual(["browse", "assets"]);
    expect(of({ SKIP: "browse" })).not.toContain("browse");
    const mixed = planOf("average", { JOURNEYS: "browse:75,assets:25", RATE: "10" });
    const peak = Object.entries(scenarios(mixed)).map(([name, scenario]) => [
      name,
      (scenario as { stages: { target: number }[] }).stages[0]?.target,
    ]);
    expect(peak).toEqual([
      ["browse", 450],
      ["assets", 150],
    ]);
    expect(() => of({ ONLY: "browsing" })).toThrow(/^ONLY "browsing" is not a journey: use browse, continued/);
    expect(() => of({ ONLY: "action", ACTION_PAGE: "off" })).toThrow(/leave no journey/);
  });

  it("has limits by profile, which LIMITS changes", () => {
    const plan = (profile: string, LIMITS = "") => planOf(profile, { LIMITS, PAGES: "/,/slow" });
    expect(plan("smoke").rows.map(({ limit }) => limit)).toEqual(plan("smoke").rows.map(() => ({})));
    const changed = plan("average", '{"/slow":{"p95":900},"availability":99.9}');
    expect(changed.limits.availability).toBe(99.9);
    expect(changed.rows[0]).toMatchObject({ name: "/", limit: { p95: 500, p99: 2000 } });
    expect(changed.rows[1]).toMatchObject({ name: "/slow", limit: { p95: 900 } });
    for (const [LIMITS, words] of [
      ["{", "is not a JSON object"],
      ['{"pages":{}}', 'LIMITS has "pages"'],
      ['{"page":{"p50":1}}', 'page is {"p50":1}'],
      ['{"page":{"p95":"1s"}}', 'page is {"p95":"1s"}'],
    ])
      expect(() => plan("average", LIMITS)).toThrow(words);
  });

  it.each(profiles)(
    "%s: each check has a threshold, each required one also a counter that fails without samples",
    (profile) => {
      const plan = planOf(profile);
      const all = thresholds(plan);
      for (const id of CHECK_IDS) expect(all[`checks{check:${id}}`]?.[0]?.threshold).toBe(`rate>=${shareOf(id)}`);
      for (const of of [...plan.checks, "/"]) expect(all[`${SAMPLES}{of:${of}}`]?.[0]?.threshold).toBe("count>0");
    },
  );

  it("stops early only in the profile that looks for the limit", () => {
    const stops = profiles.filter((profile) =>
      Object.values(thresholds(planOf(profile)))
        .flat()
        .some((limit) => limit.abortOnFail),
    );
    expect(stops).toEqual(["breakpoint"]);
  });

  it("starts as many iterations as the stages add up to, rounded up for each journey", () => {
    for (const [profile, iterations] of [
      ["average", 10 * (10 / 2 + 60 + 5 / 2)],
      ["breakpoint", (10 * 60) / 2],
    ] as const) {
      const planned = plannedIterations(planOf(profile, { RATE: "10", DURATION: "60s" }));
      expect(planned).toBeGreaterThanOrEqual(iterations);
      expect(planned).toBeLessThan(iterations * 1.1);
    }
  });

  it("runs every journey often enough to be checked, however short the run", () => {
    for (const scenario of Object.values(scenarios(planOf("average", { RATE: "0.1", DURATION: "1s" })))) {
      const [up, plateau, down] = (scenario as { stages: { target: number }[] }).stages.map(
        ({ target }) => target / 60,
      );
      expect((up ?? 0) * 5 + (plateau ?? 0) * 1 + ((plateau ?? 0) + (down ?? 0)) * 2.5).toBeGreaterThanOrEqual(3);
    }
  });

  it("gives even a journey of one percent whole iterations per minute, and limits the virtual users of all", () => {
    for (const profile of profiles.filter((name) => (PROFILES[name]?.stages.length ?? 0) > 0)) {
      for (const scenario of Object.values(scenarios(planOf(profile)))) {
        const { stages, maxVUs } = scenario as { stages: { target: number }[]; maxVUs: number };
        expect(Math.max(...stages.map(({ target }) => target))).toBeGreaterThan(0);
        expect(stages.every(({ target }) => Number.isInteger(target))).toBe(true);
        expect(maxVUs).toBeLessThanOrEqual(200);
      }
    }
  });

  it("runs every journey in turn if one scenario runs them all", () => {
    const { options } = planOf("smoke");
    const names = journeysFor(options);
    expect(names.map((_, at) => journeyOf("smoke", at + names.length, options))).toEqual(names);
    expect(journeyOf("browse", 7, options)).toBe("browse");
  });

  it("divides an outage into thirds, with a transition at its start and end", () => {
    const at = [0, 14, 17, 24, 26, 39, 41, 44, 46, 59].map((second) => outagePhase(second, 60));
    expect(at).toEqual([
      "before",
      "before",
      "transition",
      "transition",
      "down",
      "down",
      "transition",
      "transition",
      "after",
      "after",
    ]);
  });
});
