import { describe, expect, it } from "vitest";
import { SLOTS } from "./balance.ts";
import { CHECK_IDS, CHECKS } from "./checks.ts";
import { JOURNEYS, journeysFor } from "./journeys.ts";
import { readKnobs } from "./knobs.ts";
import { journeyOf, plannedVisits, scenarios } from "./scenarios.ts";
import { outagePhase, PROFILES, type ProfileName } from "./stages.ts";
import { BALANCE, demandedChecks, SAMPLES, thresholds } from "./thresholds.ts";

const profiles = Object.keys(PROFILES) as ProfileName[];
const knobs = readKnobs({});

describe("the plan", () => {
  it("owes every check to some journey or profile: none is there for show", () => {
    const owed = new Set(profiles.flatMap((profile) => demandedChecks(profile, knobs)));
    expect(CHECK_IDS.filter((id) => !owed.has(id))).toEqual([]);
  });

  it("has shares that add up to a hundred", () => {
    expect(Object.values(JOURNEYS).reduce((sum, { share }) => sum + share, 0)).toBe(100);
  });

  it("has check names that are all different, for reports tell them apart by name", () => {
    expect(new Set(CHECK_IDS.map((id) => CHECKS[id].name)).size).toBe(CHECK_IDS.length);
  });

  it("leaves out what is switched off, with its checks", () => {
    const few = readKnobs({ TRACE_PAGE: "off", TUNNEL_PATH: "off" });
    expect(journeysFor(few)).not.toContain("outgoing");
    expect(demandedChecks("average", few)).not.toContain("tunnel_accepted");
    expect(Object.keys(scenarios("average", few))).not.toContain("report");
    expect(thresholds("average", few)).not.toHaveProperty("tunnel_duration");
  });

  it.each(profiles)(
    "%s: each check has a threshold, each demanded one also a count that fails on no samples",
    (profile) => {
      const all = thresholds(profile, knobs);
      for (const id of CHECK_IDS) expect(all[id]?.[0]?.threshold).toMatch(/^rate>=(1|0\.\d+)$/);
      for (const id of demandedChecks(profile, knobs))
        expect(all[`${SAMPLES}{of:${id}}`]?.[0]?.threshold).toBe("count>0");
      expect(all[`${SAMPLES}{of:page_duration}`]?.[0]?.threshold).toBe("count>0");
      expect(Object.keys(all).filter((name) => name.startsWith(BALANCE))).toHaveLength(SLOTS);
    },
  );

  it("stops early only where the profile looks for the limit", () => {
    const stops = profiles.filter((profile) =>
      Object.values(thresholds(profile, knobs))
        .flat()
        .some((limit) => limit.abortOnFail),
    );
    expect(stops).toEqual(["breakpoint"]);
  });

  it("starts as many visits as the area below the stages says, rounding up for each journey", () => {
    const one = readKnobs({ RATE: "10", DURATION: "60s" });
    for (const [profile, visits] of [
      ["average", 10 * (10 / 2 + 60 + 5 / 2)],
      ["breakpoint", (10 * 60) / 2],
    ] as const) {
      expect(plannedVisits(profile, one)).toBeGreaterThanOrEqual(visits);
      expect(plannedVisits(profile, one)).toBeLessThan(visits * 1.1);
    }
  });

  it("makes every journey often enough to be judged, however brief the run", () => {
    const brief = readKnobs({ RATE: "0.1", DURATION: "1s" });
    for (const scenario of Object.values(scenarios("average", brief))) {
      const [up, plateau, down] = (scenario as { stages: { target: number }[] }).stages.map(
        ({ target }) => target / 60,
      );
      expect((up ?? 0) * 5 + (plateau ?? 0) * 1 + ((plateau ?? 0) + (down ?? 0)) * 2.5).toBeGreaterThanOrEqual(3);
    }
  });

  it("gives even a journey of one percent whole visits a minute, and bounds the users of all", () => {
    for (const profile of profiles.filter((name) => PROFILES[name].stages.length > 0)) {
      for (const scenario of Object.values(scenarios(profile, knobs))) {
        const { stages, maxVUs } = scenario as { stages: { target: number }[]; maxVUs: number };
        expect(Math.max(...stages.map(({ target }) => target))).toBeGreaterThan(0);
        expect(stages.every(({ target }) => Number.isInteger(target))).toBe(true);
        expect(maxVUs).toBeLessThanOrEqual(knobs.maxVus);
      }
    }
  });

  it("makes every journey in turn where one scenario makes them all", () => {
    const names = journeysFor(knobs);
    expect(names.map((_, at) => journeyOf("smoke", at + names.length, knobs))).toEqual(names);
    expect(journeyOf("browse", 7, knobs)).toBe("browse");
  });

  it("cuts an outage into thirds, with edges about which it says nothing", () => {
    const at = [0, 14, 17, 24, 26, 39, 41, 44, 46, 59].map((second) => outagePhase(second, 60));
    expect(at).toEqual(["before", "before", "edge", "edge", "down", "down", "edge", "edge", "after", "after"]);
  });
});
