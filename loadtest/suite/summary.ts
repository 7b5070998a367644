import { JOURNEYS, type JourneyName, journeysFor } from "../journeys/index.ts";
import { CHECK_IDS, CHECKS, type CheckId } from "../lib/checks.ts";
import type { Options } from "../lib/options.ts";
import { balanceLimit, SLOTS } from "./balance.ts";
import { type Example, exampleOf } from "./examples.ts";
import { type LoadProfile, PROFILES, type ProfileName } from "./profiles.ts";
import { plannedIterations, shape } from "./scenarios.ts";
import { BALANCE, PAGE_TIME, PAGE_TIME_DOWN, requiredChecks, SAMPLES, TUNNEL_TIME } from "./thresholds.ts";

/** The part of `handleSummary`'s data that is used here. */
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
  result: "passed" | "failed" | "not measured";
  example?: Example;
}

export interface DurationResult {
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
  durations: DurationResult[];
  /** Iterations per second when a threshold stopped the run; only for a profile that stops at one. */
  breakpoint?: number;
  load: { iterations: number; requests: number; dropped: number; tracesSent: number; tracesReceived: number };
  /** Crossed thresholds other than those of checks and durations. */
  other: string[];
  /** Assumptions of a passed run that the suite cannot verify. */
  unproven: string[];
  disabled: JourneyName[];
}

/** Computes the result of a run from k6's end-of-test data alone. A check without samples fails. */
export function summarise(profile: ProfileName, options: Options, data: RunData): Summary {
  const value = (metric: string, key: string) => data.metrics[metric]?.values[key] ?? 0;
  const checks = checkResults(profile, options, data);
  const durations = [durationResult("page", PAGE_TIME, options.maxPageP95Ms, data)];
  if (profile === "outage")
    durations.push(durationResult("page, ingest down", PAGE_TIME_DOWN, options.maxPageP95Ms, data));
  if (options.tunnelPath) durations.push(durationResult("envelope", TUNNEL_TIME, options.maxTunnelP95Ms, data));
  const load = {
    iterations: value("iterations", "count"),
    requests: value("http_reqs", "count"),
    dropped: value("dropped_iterations", "count"),
    tracesSent: value("traces_sent", "count"),
    tracesReceived: value("traces_received", "count"),
  };
  const other = otherProblems(profile, options, data);
  const passed =
    checks.every(({ result }) => result === "passed") && durations.every(({ ok }) => ok) && other.length === 0;
  const enabled = journeysFor(options);
  const disabled = (Object.keys(JOURNEYS) as JourneyName[]).filter((name) => !enabled.includes(name));
  const seconds = data.state.testRunDurationMs / 1000;
  const breakpoint = passed ? undefined : stoppedAt(profile, options, seconds);
  const unproven =
    profile === "outage" && options.outage !== "automatic"
      ? ["that the ingest was down for the middle third: OUTAGE=manual leaves that to you"]
      : [];
  return {
    profile,
    target: options.baseUrl,
    seconds,
    passed,
    checks,
    durations,
    breakpoint,
    load,
    other,
    unproven,
    disabled,
  };
}

/** The load when the run was stopped, for a profile with a single linear ramp. */
function stoppedAt(profile: ProfileName, options: Options, seconds: number): number | undefined {
  const { stopAtLimit }: LoadProfile = PROFILES[profile];
  const { rate, plateau } = shape(profile, options);
  return stopAtLimit && Math.min(rate, (rate * seconds) / plateau);
}

function checkResults(profile: ProfileName, options: Options, data: RunData): CheckResult[] {
  const required = requiredChecks(profile, options);
  return CHECK_IDS.flatMap((id) => {
    const { passes: passed = 0, fails: failed = 0 } = data.metrics[id]?.values ?? {};
    if (passed + failed === 0 && !required.includes(id)) return [];
    const { name, share } = CHECKS[id];
    const result = passed + failed === 0 ? "not measured" : passed / (passed + failed) >= share ? "passed" : "failed";
    return [{ id, name, passed, failed, result, example: exampleOf(id, data) } as const];
  });
}

function durationResult(name: string, metric: string, limit: number, { metrics }: RunData): DurationResult {
  const { count = 0, med = 0, "p(95)": p95 = 0, "p(99)": p99 = 0 } = metrics[metric]?.values ?? {};
  return { name, count, med, p95, p99, limit, ok: count > 0 && p95 < limit };
}

/** Crossed thresholds that are not shown with a check or duration. */
function otherProblems(profile: ProfileName, options: Options, { metrics }: RunData): string[] {
  const crossed = Object.entries(metrics)
    .filter(([, { thresholds = {} }]) => Object.values(thresholds).some(({ ok }) => !ok))
    .map(([name]) => name);
  const problems: string[] = [];
  if ((metrics.iterations?.values.count ?? 0) === 0) problems.push("nothing was measured: no iteration completed");
  const imbalanced = crossed.filter((name) => name.startsWith(`${BALANCE}{`)).length;
  if (imbalanced > 0) {
    const limit = balanceLimit(plannedIterations(profile, options));
    problems.push(`trace ids are shared across virtual users: ${imbalanced} of ${SLOTS} counters exceed ±${limit}`);
  }
  if (crossed.includes("dropped_iterations"))
    problems.push(
      `${metrics.dropped_iterations?.values.count} iterations were dropped: the target is too slow for this rate, or MAX_VUS is too low`,
    );
  const shown = (name: string) =>
    name in CHECKS ||
    [PAGE_TIME, PAGE_TIME_DOWN, TUNNEL_TIME, "dropped_iterations", "iterations"].includes(name) ||
    name.startsWith(BALANCE) ||
    name.startsWith(SAMPLES);
  return [...problems, ...crossed.filter((name) => !shown(name)).map((name) => `threshold crossed: ${name}`)];
}
