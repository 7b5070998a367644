import { describe, expect, it } from "vitest";
import { JOURNEYS, journeysFor } from "../journeys/index.ts";
import { CHECK_IDS, shareOf } from "../lib/checks.ts";
import { SAMPLES } from "../lib/client.ts";
import { readPlan } from "./plan.ts";
import { PROFILES } from "./profiles.ts";
import { journeyOf, plannedIterations, scenarios } from "./scenarios.ts";
import { thresholds } from "./thresholds.ts";

const profiles = Object.keys(PROFILES);
const planOf = (profile: string, env: Record<string, string> = {}) => readPlan(profile, env);

describe("the plan", () => {
  it("requires every check in some journey or profile", () => {
    const required = new Set(profiles.flatMap((profile) => planOf(profile, { INGEST: "http://reader" }).checks));
    // Only some targets' responses have what these three judge.
    const some = ["not_shared", "no_trace_cookie", "tunnel_retryable"];
    expect(CHECK_IDS.filter((id) => !required.has(id) && !some.includes(id))).toEqual([]);
  });

  it("has shares that add up to a hundred", () => {
    expect(Object.values(JOURNEYS).reduce((sum, { share }) => sum + share, 0)).toBe(100);
  });

  it("leaves out disabled journeys and their checks", () => {
    const few = planOf("average", { TRACE_PAGE: "off", TUNNEL_PATH: "off" });
    expect(few.checks).not.toContain("tunnel_accepted");
    expect(journeysFor(few.options)).not.toContain("outgoing");
    expect(Object.keys(thresholds(few)).filter((name) => name.includes("envelope"))).toEqual([]);
  });

  it("runs the journeys that SKIP, ONLY and JOURNEYS leave, with their shares", () => {
    const of = (env: Record<string, string>) => journeysFor(planOf("average", env).options);
    expect(of({ ONLY: "browse,assets" })).toEqual(["browse", "assets"]);
    expect(of({ SKIP: "browse" })).not.toContain("browse");
    const mixed = planOf("average", { JOURNEYS: "browse:75,assets:25" });
    const later = Array.from({ length: 100 }, (_, at) => journeyOf(mixed, 100 + at));
    expect(Math.abs(later.filter((name) => name === "browse").length - 75)).toBeLessThan(3);
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

  it("starts as many iterations as the stages add up to", () => {
    const planned = (profile: string) => plannedIterations(planOf(profile, { RATE: "10", DURATION: "60s" }));
    expect([planned("average"), planned("breakpoint")]).toEqual([10 * (10 / 2 + 60 + 5 / 2), (10 * 60) / 2]);
  });

  it("gives every rate whole iterations per minute, and limits the virtual users", () => {
    for (const profile of profiles.filter((name) => name !== "smoke")) {
      const [scenario] = Object.values(scenarios(planOf(profile, { RATE: "0.3" })));
      const { stages, maxVUs } = scenario as { stages: { target: number }[]; maxVUs: number };
      expect(stages[0]).toMatchObject({ target: 18 });
      expect(maxVUs).toBeLessThanOrEqual(200);
    }
  });

  it("runs every journey in turn at first, and always in smoke; later in proportion to their shares", () => {
    const count = (profile: string, from: number, to: number) => {
      const counts: Record<string, number> = {};
      for (let at = from; at < to; at++) {
        const name = journeyOf(planOf(profile), at);
        counts[name] = (counts[name] ?? 0) + 1;
      }
      return counts;
    };
    const names = Object.entries(JOURNEYS);
    const three = Object.fromEntries(names.map(([name]) => [name, 3]));
    expect(count("smoke", 100, 100 + 3 * names.length)).toEqual(three);
    expect(count("average", 0, 3 * names.length)).toEqual(three);
    const later = count("average", 1000, 2000);
    for (const [name, { share }] of names) expect(Math.abs((later[name] ?? 0) - 10 * share)).toBeLessThan(6);
  });
});
