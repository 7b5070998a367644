import { balanceLimit, SLOTS } from "./balance.ts";
import { CHECK_IDS, CHECKS, type CheckId } from "./checks.ts";
import { type Example, exampleOf } from "./examples.ts";
import { JOURNEYS, type JourneyName, journeysFor } from "./journeys.ts";
import type { Knobs } from "./knobs.ts";
import { plannedVisits, shape } from "./scenarios.ts";
import { PROFILES, type Profile, type ProfileName } from "./stages.ts";
import { BALANCE, demandedChecks, PAGE_TIME, PAGE_TIME_DOWN, SAMPLES, TUNNEL_TIME } from "./thresholds.ts";

/** What k6 hands to `handleSummary`, as far as it is read here. */
export interface RunData {
  metrics: Record<string, { values: Record<string, number>; thresholds?: Record<string, { ok: boolean }> }>;
  state: { testRunDurationMs: number };
  root_group: { groups: { name: string }[] };
}

export interface CheckResult {
  id: CheckId;
  name: string;
  passed: number;
  failed: number;
  verdict: "passed" | "failed" | "not measured";
  example?: Example;
}

export interface SpeedResult {
  name: string;
  count: number;
  med: number;
  p95: number;
  p99: number;
  limit: number;
  ok: boolean;
}

export interface Summary {
  profile: ProfileName;
  target: string;
  seconds: number;
  passed: boolean;
  checks: CheckResult[];
  speed: SpeedResult[];
  /** Visits a second when a limit stopped the run; only where a profile looks for that. */
  brokeAt?: number;
  load: { visits: number; requests: number; dropped: number; tracesSent: number; tracesGiven: number };
  /** Crossed limits that are neither a check's nor a speed's, in words. */
  other: string[];
  /** What a green verdict takes on somebody's word. */
  unproven: string[];
  notChecked: JourneyName[];
}

/** Judges a run from k6's end-of-test data alone, so that nothing measured is never mistaken for nothing wrong. */
export function summarise(profile: ProfileName, knobs: Knobs, data: RunData): Summary {
  const value = (metric: string, key: string) => data.metrics[metric]?.values[key] ?? 0;
  const checks = checkResults(profile, knobs, data);
  const speed = [speedResult("page", PAGE_TIME, knobs.pageP95, data)];
  if (profile === "outage") speed.push(speedResult("page, ingest down", PAGE_TIME_DOWN, knobs.pageP95, data));
  if (knobs.tunnelPath) speed.push(speedResult("report", TUNNEL_TIME, knobs.tunnelP95, data));
  const load = {
    visits: value("iterations", "count"),
    requests: value("http_reqs", "count"),
    dropped: value("dropped_iterations", "count"),
    tracesSent: value("traces_sent", "count"),
    tracesGiven: value("traces_given", "count"),
  };
  const other = otherProblems(profile, knobs, data);
  const passed =
    checks.every(({ verdict }) => verdict === "passed") && speed.every(({ ok }) => ok) && other.length === 0;
  const on = journeysFor(knobs);
  const notChecked = (Object.keys(JOURNEYS) as JourneyName[]).filter((name) => !on.includes(name));
  const seconds = data.state.testRunDurationMs / 1000;
  const brokeAt = passed ? undefined : stoppedAt(profile, knobs, seconds);
  const unproven =
    profile === "outage" && knobs.outage !== "switched"
      ? ["that the ingest was down for the middle third: OUTAGE=by-hand is your word for it"]
      : [];
  return { profile, target: knobs.baseUrl, seconds, passed, checks, speed, brokeAt, load, other, unproven, notChecked };
}

/** The load at the moment at which a run was stopped, on its way up a single straight ramp. */
function stoppedAt(profile: ProfileName, knobs: Knobs, seconds: number): number | undefined {
  const { stopAtLimit }: Profile = PROFILES[profile];
  const { rate, plateau } = shape(profile, knobs);
  return stopAtLimit && Math.min(rate, (rate * seconds) / plateau);
}

function checkResults(profile: ProfileName, knobs: Knobs, data: RunData): CheckResult[] {
  const demanded = demandedChecks(profile, knobs);
  return CHECK_IDS.flatMap((id) => {
    const { passes: passed = 0, fails: failed = 0 } = data.metrics[id]?.values ?? {};
    if (passed + failed === 0 && !demanded.includes(id)) return [];
    const { name, share } = CHECKS[id];
    const verdict = passed + failed === 0 ? "not measured" : passed / (passed + failed) >= share ? "passed" : "failed";
    return [{ id, name, passed, failed, verdict, example: exampleOf(id, data) } as const];
  });
}

function speedResult(name: string, metric: string, limit: number, { metrics }: RunData): SpeedResult {
  const { count = 0, med = 0, "p(95)": p95 = 0, "p(99)": p99 = 0 } = metrics[metric]?.values ?? {};
  return { name, count, med, p95, p99, limit, ok: count > 0 && p95 < limit };
}

/** Crossed thresholds that no line of the tables above shows. */
function otherProblems(profile: ProfileName, knobs: Knobs, { metrics }: RunData): string[] {
  const crossed = Object.entries(metrics)
    .filter(([, { thresholds = {} }]) => Object.values(thresholds).some(({ ok }) => !ok))
    .map(([name]) => name);
  const problems: string[] = [];
  if ((metrics.iterations?.values.count ?? 0) === 0) problems.push("nothing was measured: no visit was completed");
  const stray = crossed.filter((name) => name.startsWith(`${BALANCE}{`)).length;
  if (stray > 0) {
    const limit = balanceLimit(plannedVisits(profile, knobs));
    problems.push(`trace ids are shared across virtual users: ${stray} of ${SLOTS} counters stray beyond ±${limit}`);
  }
  if (crossed.includes("dropped_iterations"))
    problems.push(
      `${metrics.dropped_iterations?.values.count} visits were never made: the target is too slow for this rate, or MAX_VUS too low`,
    );
  const shown = (name: string) =>
    name in CHECKS ||
    [PAGE_TIME, PAGE_TIME_DOWN, TUNNEL_TIME, "dropped_iterations", "iterations"].includes(name) ||
    name.startsWith(BALANCE) ||
    name.startsWith(SAMPLES);
  return [...problems, ...crossed.filter((name) => !shown(name)).map((name) => `limit crossed: ${name}`)];
}
