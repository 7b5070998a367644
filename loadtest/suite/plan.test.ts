import { describe, expect, it } from "vitest";
import { JOURNEYS, journeysFor } from "../journeys/index.ts";
import { CHECK_IDS, CHECKS } from "../lib/checks.ts";
import { readOptions } from "../lib/options.ts";
import { SLOTS } from "./balance.ts";
import { readLimits } from "./limits.ts";
import { outagePhase } from "./outage.ts";
import { PROFILES, type ProfileName } from "./profiles.ts";
import { journeyOf, plannedIterations, scenarios } from "./scenarios.ts";
import { BALANCE, requiredChecks, SAMPLES, thresholds } from "./thresholds.ts";

const profiles = Object.keys(PROFILES) as ProfileName[];
const options = readOptions({});
const planOf = (profile: ProfileName, own = options) => ({ profile, options: own, limits: readLimits(profile, own) });

describe("the plan", () => {
  it("requires every check in some journey or profile", () => {
    const required = new Set(
      profiles.flatMap((profile) => requiredChecks(profile, { ...options, ingest: "http://reader" })),
    );
    // Only some targets' responses have what these two judge.
    const some = ["not_shared", "no_trace_cookie"];
    expect(CHECK_IDS.filter((id) => !required.has(id) && !some.includes(id))).toEqual([]);
  });

  it("has shares that add up to a hundred", () => {
    expect(Object.values(JOURNEYS).reduce((sum, { share }) => sum + share, 0)).toBe(100);
  });

  it("has unique check names, because the results identify checks by name", () => {
    expect(new Set(CHECK_IDS.map((id) => CHECKS[id].name)).size).toBe(CHECK_IDS.length);
  });

  it("leaves out disabled journeys and their checks", () => {
    const few = readOptions({ TRACE_PAGE: "off", TUNNEL_PATH: "off" });
    expect(journeysFor(few)).not.toContain("outgoing");
    expect(requiredChecks("average", few)).not.toContain("tunnel_accepted");
    expect(Object.keys(scenarios("average", few))).not.toContain("envelopes");
    expect(Object.keys(thresholds(planOf("average", few))).filter((name) => name.includes("envelope"))).toEqual([]);
  });

  it("runs the journeys that SKIP, ONLY and JOURNEYS leave, with their shares", () => {
    const of = (env: Record<string, string>) => journeysFor(readOptions(env));
    expect(of({ ONLY: "browse,assets" })).toEqual(["browse", "assets"]);
    expect(of({ SKIP: "browse" })).not.toContain("browse");
    const mixed = readOptions({ JOURNEYS: "browse:75,assets:25", RATE: "10" });
    const peak = Object.entries(scenarios("average", mixed)).map(([name, scenario]) => [
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
    const limits = (profile: ProfileName, LIMITS = "") => readLimits(profile, readOptions({ LIMITS }));
    expect(limits("smoke").times).toEqual({});
    expect(limits("average", '{"/slow":{"p95":900},"availability":99.9}')).toMatchObject({
      availability: 99.9,
      times: { "/slow": { p95: 900 }, page: { p95: 500 } },
    });
    for (const [LIMITS, words] of [
      ["{", "is not a JSON object"],
      ['{"pages":{}}', 'LIMITS has "pages"'],
      ['{"page":{"p50":1}}', 'has "p50"'],
      ['{"page":{"p95":"1s"}}', 'page p95 is "1s"'],
    ])
      expect(() => limits("average", LIMITS)).toThrow(words);
  });

  it.each(profiles)(
    "%s: each check has a threshold, each required one also a counter that fails without samples",
    (profile) => {
      const all = thresholds(planOf(profile));
      for (const id of CHECK_IDS)
        expect(all[id]?.[0]?.threshold).toMatch(
          id === "page_independent" && profile === "smoke" ? /^rate>=0$/ : /^rate>=(1|0\.\d+)$/,
        );
      for (const id of requiredChecks(profile, options))
        expect(all[`${SAMPLES}{of:${id}}`]?.[0]?.threshold).toBe("count>0");
      expect(all[`${SAMPLES}{of:/}`]?.[0]?.threshold).toBe("count>0");
      expect(Object.keys(all).filter((name) => name.startsWith(BALANCE))).toHaveLength(SLOTS);
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
    const one = readOptions({ RATE: "10", DURATION: "60s" });
    for (const [profile, iterations] of [
      ["average", 10 * (10 / 2 + 60 + 5 / 2)],
      ["breakpoint", (10 * 60) / 2],
    ] as const) {
      expect(plannedIterations(profile, one)).toBeGreaterThanOrEqual(iterations);
      expect(plannedIterations(profile, one)).toBeLessThan(iterations * 1.1);
    }
  });

  it("runs every journey often enough to be checked, however short the run", () => {
    const brief = readOptions({ RATE: "0.1", DURATION: "1s" });
    for (const scenario of Object.values(scenarios("average", brief))) {
      const [up, plateau, down] = (scenario as { stages: { target: number }[] }).stages.map(
        ({ target }) => target / 60,
      );
      expect((up ?? 0) * 5 + (plateau ?? 0) * 1 + ((plateau ?? 0) + (down ?? 0)) * 2.5).toBeGreaterThanOrEqual(3);
    }
  });

  it("gives even a journey of one percent whole iterations per minute, and limits the virtual users of all", () => {
    for (const profile of profiles.filter((name) => PROFILES[name].stages.length > 0)) {
      for (const scenario of Object.values(scenarios(profile, options))) {
        const { stages, maxVUs } = scenario as { stages: { target: number }[]; maxVUs: number };
        expect(Math.max(...stages.map(({ target }) => target))).toBeGreaterThan(0);
        expect(stages.every(({ target }) => Number.isInteger(target))).toBe(true);
        expect(maxVUs).toBeLessThanOrEqual(options.maxVus);
      }
    }
  });

  it("runs every journey in turn if one scenario runs them all", () => {
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
