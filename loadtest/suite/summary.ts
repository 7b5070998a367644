import { JOURNEY_NAMES, type JourneyName, journey, journeysFor } from "../journeys/index.ts";
import { CHECK_IDS, CHECKS, type CheckId, shareOf } from "../lib/checks.ts";
import { isLocalIngest } from "../lib/options.ts";
import { balanceLimit, SLOTS } from "./balance.ts";
import { SCHEMA } from "./baseline.ts";
import { type Example, examplesOf } from "./examples.ts";
import { type LoadProfile, PROFILES, type ProfileName } from "./profiles.ts";
import { plannedIterations, shape } from "./scenarios.ts";
import * as names from "./thresholds.ts";

/** The part of `handleSummary`'s data that is used here. */
export interface RunData {
  metrics: Record<string, { values: Record<string, number>; thresholds?: Record<string, { ok: boolean }> }>;
  state: { testRunDurationMs: number };
  root_group: Group;
}
export interface Group {
  name: string;
  groups?: Group[];
}

/** How a run ended, worst first, and run.sh's exit code for it. */
export const EXIT = { integrity: 20, availability: 21, incomplete: 24, limits: 22, regression: 23, passed: 0 } as const;
export type Result = keyof typeof EXIT;

export interface CheckResult {
  id: CheckId;
  name: string;
  passed: number;
  failed: number;
  result: "passed" | "failed" | "not measured";
  examples: Example[];
}

export interface DurationResult {
  name: string;
  count: number;
  timedOut: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
  limit: { p95?: number; p99?: number };
  /** The baseline's p95, and whether this one is a regression or an improvement beyond the noise. */
  former?: number;
  change?: "regression" | "improvement";
  ok: boolean;
}

export interface Summary {
  schema: typeof SCHEMA;
  profile: ProfileName;
  target: string;
  time: string;
  commit: string;
  k6: string;
  seconds: number;
  result: Result;
  exit: number;
  /** Answers with a fault, all answers, and the share of faulty requests that would have been seen with 99.9 % probability. */
  integrity: { broken: number; answered: number; detectable: number };
  /** Percent of requests that were answered. */
  availability: number;
  unavailable: { kind: string; percent: number }[];
  checks: CheckResult[];
  durations: DurationResult[];
  /** Examples of requests that were not answered. */
  unanswered: Example[];
  timeline: { second: number; count: number; p50: number; p95: number; answered: number }[];
  /** Iterations per second when a threshold stopped the run; only for a profile that stops at one. */
  breakpoint?: number;
  load: { iterations: number; requests: number; dropped: number; tracesSent: number; tracesReceived: number };
  /** Crossed thresholds other than those of checks, availability and durations. */
  other: string[];
  /** What the suite could not verify. */
  unverified: string[];
  disabled: JourneyName[];
  baseline?: { time: string; commit: string };
  settings: Record<string, unknown>;
  traceUrl: string;
}

/** Facts of the run that k6 does not know; run.sh passes them. */
export interface Run {
  time: string;
  commit: string;
  k6: string;
}

/** Computes the result of a run from k6's end-of-test data alone. */
export function summarise(plan: names.Plan, run: Run, data: RunData): Summary {
  const { profile, options, limits, baseline } = plan;
  const value = (metric: string, key: string) => data.metrics[metric]?.values[key] ?? 0;
  const checks = checkResults(plan, data);
  const durations = durationResults(plan, data);
  const answered = value(names.AVAILABILITY, "passes");
  const requests = answered + value(names.AVAILABILITY, "fails");
  const availability = requests === 0 ? 0 : (100 * answered) / requests;
  const unavailable = ["page", ...names.kindsOf(options)].flatMap((kind) => {
    const { passes = 0, fails = 0 } = data.metrics[`${names.AVAILABILITY}{kind:${kind}}`]?.values ?? {};
    const percent = (100 * passes) / (passes + fails);
    return percent < limits.availability ? [{ kind, percent }] : [];
  });
  const integrityBroken = checks.some(({ id, result }) => result === "failed" && shareOf(id) === 1);
  const shared = sharedIds(plan, data);
  const other = otherProblems(data);
  const result: Result =
    integrityBroken || shared.length > 0
      ? "integrity"
      : unavailable.length > 0
        ? "availability"
        : checks.some(({ result }) => result === "not measured") ||
            durations.some(({ count }) => count === 0) ||
            value("iterations", "count") === 0
          ? "incomplete"
          : checks.some(({ result }) => result === "failed") || durations.some(({ ok }) => !ok) || other.length > 0
            ? "limits"
            : durations.some(({ change }) => change === "regression")
              ? "regression"
              : "passed";
  const enabled = journeysFor(options);
  const seconds = data.state.testRunDurationMs / 1000;
  const load = {
    iterations: value("iterations", "count"),
    requests: value("http_reqs", "count"),
    dropped: value("dropped_iterations", "count"),
    tracesSent: value("traces_sent", "count"),
    tracesReceived: value("traces_received", "count"),
  };
  return {
    schema: SCHEMA,
    profile,
    target: options.baseUrl,
    ...run,
    seconds,
    result,
    exit: EXIT[result],
    integrity: {
      broken: value(names.BROKEN, "count") + shared.length,
      answered,
      detectable: 100 * detectable(answered),
    },
    availability,
    unavailable,
    checks,
    durations,
    unanswered: examplesOf("availability", data),
    timeline: timeline(data, seconds),
    breakpoint: result === "passed" ? undefined : stoppedAt(plan, seconds),
    load,
    other: [...shared, ...other],
    unverified: unverified(plan),
    disabled: JOURNEY_NAMES.filter((name) => !enabled.includes(name)),
    baseline: baseline && { time: baseline.time, commit: baseline.commit },
    settings: { ...options, dsn: `${options.dsn.host}/${options.dsn.project}`, limits },
    traceUrl: options.traceUrl,
  };
}

/** The smallest share of faulty requests of which one was among `count` with 99.9 % probability: 1 − (1 − share)^count = 0.999. */
const detectable = (count: number) => (count === 0 ? 1 : 1 - 0.001 ** (1 / count));

function unverified({ profile, options }: names.Plan): string[] {
  const enabled = journeysFor(options);
  const all: string[] = [];
  if (enabled.some((name) => journey(name).envelopes) && !options.ingest)
    all.push("that accepted envelopes arrived: INGEST is not set, and run.sh found no local ingest to read from");
  if (enabled.includes("action") && !options.actionExpect) all.push("that the action ran: ACTION_EXPECT is not set");
  if (enabled.includes("redirect") && !options.redirectTo)
    all.push("where the redirect should lead: REDIRECT_TO is not set");
  if (!options.trace) all.push("traces: TRACE=off, pages without a sentry-trace meta");
  if (profile === "outage" && options.outage !== "automatic")
    all.push("that the ingest was down for the middle third: OUTAGE=manual leaves that to you");
  if (options.ingest === "" && !isLocalIngest(options.dsn) && enabled.includes("envelopes"))
    all.push(`what project ${options.dsn.project} at ${options.dsn.host} stored: see SENTRY_AUTH_TOKEN in the README`);
  return all;
}

/** The load when the run was stopped, for a profile with a single linear ramp. */
function stoppedAt({ profile, options }: names.Plan, seconds: number): number | undefined {
  const { stopAtLimit }: LoadProfile = PROFILES[profile];
  const { rate, plateau } = shape(profile, options);
  return stopAtLimit && Math.min(rate, (rate * seconds) / plateau);
}

function checkResults(plan: names.Plan, data: RunData): CheckResult[] {
  const { profile, options } = plan;
  const required = names.requiredChecks(profile, options);
  return CHECK_IDS.flatMap((id) => {
    const { passes: passed = 0, fails: failed = 0 } = data.metrics[id]?.values ?? {};
    if (passed + failed === 0 && !required.includes(id)) return [];
    const result =
      passed + failed === 0
        ? "not measured"
        : passed / (passed + failed) >= names.requiredShare(plan, id)
          ? "passed"
          : "failed";
    return [{ id, name: CHECKS[id].name, passed, failed, result, examples: examplesOf(id, data) } as const];
  });
}

function durationResults(plan: names.Plan, data: RunData): DurationResult[] {
  const rows = names.rows(plan);
  if (plan.profile === "outage")
    rows.push({
      name: names.PAGES_DOWN,
      selector: "{kind:page,phase:down}",
      limit: { p95: plan.limits.times.page?.p95 },
    });
  return rows.map(({ name, selector, limit }) => {
    const {
      count = 0,
      med: p50 = 0,
      "p(95)": p95 = 0,
      "p(99)": p99 = 0,
      max = 0,
    } = data.metrics[names.TIME + selector]?.values ?? {};
    const timedOut = data.metrics[names.TIMED_OUT + selector]?.values.count ?? 0;
    const former = plan.baseline?.times[name];
    const worse = former !== undefined && p95 > former.max;
    const better = former !== undefined && p95 + (former.max - former.p95) < former.p95;
    const ok = p95 < (limit.p95 ?? Number.POSITIVE_INFINITY) && p99 < (limit.p99 ?? Number.POSITIVE_INFINITY);
    const change = worse ? "regression" : better ? "improvement" : undefined;
    return { name, count, timedOut, p50, p95, p99, max, limit, former: former?.p95, change, ok } as const;
  });
}

function timeline({ metrics }: RunData, seconds: number): Summary["timeline"] {
  return Array.from({ length: names.SLICES }, (_, slice) => {
    const { count = 0, med: p50 = 0, "p(95)": p95 = 0 } = metrics[`${names.TIMELINE}{slice:${slice}}`]?.values ?? {};
    const { passes = 0, fails = 0 } = metrics[`${names.TIMELINE_ANSWERED}{slice:${slice}}`]?.values ?? {};
    const answered = passes + fails === 0 ? 100 : (100 * passes) / (passes + fails);
    return { second: (seconds * (slice + 0.5)) / names.SLICES, count, p50, p95, answered };
  }).filter(({ count, answered }) => count > 0 || answered < 100);
}

const crossedOf = ({ metrics }: RunData) =>
  Object.entries(metrics).flatMap(([name, { thresholds = {} }]) =>
    Object.values(thresholds).some(({ ok }) => !ok) ? [name] : [],
  );

function sharedIds({ profile, options }: names.Plan, data: RunData): string[] {
  const crossed = crossedOf(data).filter((name) => name.startsWith(`${names.BALANCE}{`)).length;
  const limit = balanceLimit(plannedIterations(profile, options));
  return crossed === 0
    ? []
    : [`trace ids are shared across virtual users: ${crossed} of ${SLOTS} counters exceed ±${limit}`];
}

/** Crossed thresholds that are not shown with a check, a duration or the availability. */
function otherProblems(data: RunData): string[] {
  const crossed = crossedOf(data);
  const problems: string[] = [];
  if ((data.metrics.iterations?.values.count ?? 0) === 0) problems.push("nothing was measured: no iteration completed");
  if (crossed.includes("dropped_iterations"))
    problems.push(
      `${data.metrics.dropped_iterations?.values.count} iterations were dropped: the target is too slow for this rate, or MAX_VUS is too low`,
    );
  const shown = [names.TIME, names.TIMED_OUT, names.AVAILABILITY, names.BALANCE, names.SAMPLES, names.TIMELINE];
  const own = (name: string) =>
    name in CHECKS ||
    name === "dropped_iterations" ||
    name === "iterations" ||
    shown.some((one) => name.startsWith(one));
  return [...problems, ...crossed.filter((name) => !own(name)).map((name) => `threshold crossed: ${name}`)];
}
