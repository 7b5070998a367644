import { describe, expect, it } from "vitest";
import { JOURNEYS, journeysFor } from "../journeys/index.ts";
import { CHECK_IDS, shareOf } from "../lib/checks.ts";
import { SAMPLES, TIME } from "../lib/client.ts";
import { DECLARED } from "../test/run-suite.ts";
import { readPlan } from "./plan.ts";
import { PROFILES } from "./profiles.ts";
import { journeyOf, roundOf, scenarios, smokeIterations } from "./scenarios.ts";
import { thresholds } from "./thresholds.ts";

const planOf = (profile: string, env = {}) => readPlan(profile, { ...DECLARED, ...env });
const profiles = Object.keys(PROFILES);
const journeysOf = (env: Record<string, string>) => journeysFor(planOf("average", env).options);
const thresholdsOf = (profile: string, env = {}) => Object.entries(thresholds(planOf(profile, env)));

describe("the plan", () => {
  it("requires every check in some journey or profile", () => {
    const required = new Set(
      profiles.flatMap((profile) => planOf(profile, { INGEST: "http://reader", BROWSER: "on", NO_BROWSER: "" }).checks),
    );
    // Only some targets' responses have what these judge.
    const some = ["tunnel_retryable", "own_session", "action_once", "page_nonce"];
    expect(CHECK_IDS.filter((id) => !required.has(id) && !some.includes(id))).toEqual([]);
  });

  it("runs the journeys that the target has, and that JOURNEYS names, with their shares", () => {
    const off = { TRACE_PAGE: "off", TUNNEL_PATH: "off" };
    expect(planOf("average", off).checks).not.toContain("tunnel_accepted");
    expect(journeysOf(off)).not.toContain("outgoing");
    expect(thresholdsOf("average", off).filter(([name]) => name.includes("envelope"))).toEqual([]);
    expect(journeysOf({ JOURNEYS: "browse,assets" })).toEqual(["browse", "assets"]);
    const { browse = 0 } = count(100, 200, { JOURNEYS: "browse:75,assets:25" });
    expect(Math.abs(browse - 75)).toBeLessThan(3);
  });

  it.each([
    [{ JOURNEYS: "browsing" }, /^JOURNEYS "browsing" is not a journey: use browse, continued/],
    [{ JOURNEYS: "action", ACTION_PAGE: "off" }, /leave no journey/],
    [{ PAGES: "off" }, "TRACE is set, but PAGES is off: name pages"],
    [{ LIMITS: "{" }, "is not JSON"],
    [{ LIMITS: '{"pages":{}}' }, 'LIMITS has "pages"'],
    [{ LIMITS: '{"page":{"p50":1}}' }, 'page is {"p50":1}'],
  ])("rejects %j", (env, words) => expect(() => planOf("average", env)).toThrow(words));

  it("has limits by profile, which LIMITS changes", () => {
    const plan = (profile: string, LIMITS = "") => planOf(profile, { LIMITS, PAGES: "/,/slow" });
    expect(plan("smoke").rows.filter(({ limit }) => limit.p95 || limit.p99)).toEqual([]);
    const { availability, rows } = plan("average", '{"/slow":{"p95":900},"availability":99.9}');
    expect(availability).toBe(99.9);
    const pages = { "/": 500, "/slow": 900, "/trace": 500, "/test-events": 500 };
    const kinds = { navigation: 500, echo: 250, file: 250, action: 1000, redirect: 500, 404: undefined, envelope: 250 };
    expect(Object.fromEntries(rows.map(({ name, limit }) => [name, limit.p95]))).toEqual({ ...pages, ...kinds });
    expect(rows[0]?.limit.p99).toBe(2000);
  });

  it.each(profiles)(
    "%s: each check has a threshold, each required one also a counter that fails without samples",
    (profile) => {
      const all = Object.fromEntries(thresholdsOf(profile));
      for (const id of CHECK_IDS) expect(all[`checks{check:${id}}`]?.[0]?.threshold).toBe(`rate>=${shareOf(id)}`);
      for (const of of [...planOf(profile).checks])
        expect(all[`${SAMPLES}{check:${of}}`]?.[0]?.threshold).toBe("count>0");
      expect(all[`${TIME}{kind:page,name:/}`]?.[0]?.threshold).toBe("max>0");
    },
  );

  it("stops early only in the profile that looks for the limit", () => {
    const stops = (profile: string) => thresholdsOf(profile).some(([, all]) => all.some((limit) => limit.abortOnFail));
    expect(profiles.filter(stops)).toEqual(["breakpoint"]);
  });

  it.each(profiles.filter((name) => name !== "smoke"))(
    "%s: every rate is whole iterations per minute, and users are limited",
    (profile) => {
      const [scenario] = Object.values(scenarios(planOf(profile, { RATE: "0.3" })));
      const { stages, maxVUs } = scenario as { stages: { target: number }[]; maxVUs: number };
      expect(stages[0]).toMatchObject({ target: 18 });
      expect(maxVUs).toBeLessThanOrEqual(200);
    },
  );

  it("runs every journey in turn at first, and always in smoke, on every page", () => {
    const names = Object.keys(JOURNEYS);
    const three = Object.fromEntries(names.map((name) => [name, 3]));
    expect(count(100, 100 + 3 * names.length, {}, "smoke")).toEqual(three);
    expect(count(0, 3 * names.length)).toEqual(three);
    const plan = planOf("smoke", { PAGES: "/1,/2,/3,/4,/5,/6,/7" });
    expect([smokeIterations(plan), roundOf(plan, smokeIterations(plan) - 1)]).toEqual([8 * names.length, 7]);
  });
});

function count(from: number, to: number, env: Record<string, string> = {}, profile = "average") {
  const names = Array.from({ length: to - from }, (_, at) => journeyOf(planOf(profile, env), from + at));
  return Object.fromEntries(Object.keys(JOURNEYS).map((name) => [name, names.filter((id) => id === name).length]));
}
