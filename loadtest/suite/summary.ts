import { JOURNEY_NAMES, journeysFor, sendsEnvelopes } from "../journeys/index.ts";
import { CHECK_IDS, CHECKS, type CheckId, shareOf } from "../lib/checks.ts";
import { AVAILABILITY, REUSE, type SetupData, STOPS, TIME } from "../lib/client.ts";
import type { Failure } from "../lib/failures.ts";
import { isLocalIngest, type Options, TESTED } from "../lib/options.ts";
import type { Plan, Row } from "./plan.ts";
import { plateauOf } from "./scenarios.ts";
import { FIRST_BYTE, TCP, TLS } from "./thresholds.ts";

/** The part of `handleSummary`'s data that is used here. */
export interface RunData {
  metrics: Record<string, { values: Record<string, number>; thresholds?: Record<string, { ok: boolean }> }>;
  state: { testRunDurationMs: number };
  setup_data?: SetupData;
}

/** How a run ended, and run.sh's exit code for it. */
export const EXIT = { integrity: 20, availability: 21, incomplete: 24, limits: 22, passed: 0 } as const;
export type Result = keyof typeof EXIT;

export interface CheckResult {
  id: CheckId;
  name: string;
  passed: number;
  failed: number;
  result: "passed" | "failed" | "not measured";
  failures: Failure[];
}

export type Duration = ReturnType<typeof durationOf>;
export type Summary = ReturnType<typeof summarise>;

/** Why a run has no result; empty if it has one. */
export function stopOf({ metrics, setup_data }: RunData, { ingest }: Options): string {
  if (!setup_data) return "its setup failed: see k6's log";
  const stops = metrics[STOPS]?.values.count ?? 0;
  return setup_data.problem ?? (stops > 0 ? `INGEST ${ingest} failed during the run: see k6's log` : "");
}

/** Computes the result of a run from k6's end-of-test data and the texts of its failures. */
export function summarise(
  plan: Plan,
  run: { time: string; commit: string; k6: string },
  data: RunData,
  failures: Failure[] = [],
) {
  const { options, profile } = plan;
  const values = (metric: string) => data.metrics[metric]?.values ?? {};
  const holds = (metric: string) => Object.values(data.metrics[metric]?.thresholds ?? {}).every(({ ok }) => ok);
  const percent = (metric: string) => 100 * (values(metric).rate ?? 0);
  const count = (metric: string) => values(metric).count ?? 0;
  const seconds = data.state.testRunDurationMs / 1000;
  const failuresOf = (of: Failure["check"]) => failures.filter(({ check }) => check === of).slice(0, 3);
  const checks = CHECK_IDS.map((id) => checkResult(id, values, holds, failuresOf(id))).filter(
    ({ id, result }) => result !== "not measured" || plan.checks.includes(id),
  );
  const durations = plan.rows.map((row) => durationOf(row, values, holds));
  const { passes: answered = 0, fails: unanswered = 0 } = values(AVAILABILITY);
  const unavailable = plan.kinds
    .filter((kind) => !holds(`${AVAILABILITY}{kind:${kind}}`))
    .map((kind) => ({ kind, percent: percent(`${AVAILABILITY}{kind:${kind}}`) }));
  const failed = checks.filter(({ result }) => result === "failed");
  const broken = failed.filter(({ id }) => shareOf(id) === 1);

  const [iterations, dropped] = [count("iterations"), count("dropped_iterations")];
  const other: string[] = [];
  if (iterations === 0) other.push("nothing was measured: no iteration completed");
  if (!holds("dropped_iterations"))
    other.push(`${dropped} iterations were dropped: the target is too slow for this rate, or MAX_VUS is too low`);
  const [first = 0, last = 0] = ["first", "last"].map((part) => values(`${TIME}{kind:page,quarter:${part}}`).med);
  // On a fast page, a busy machine looks like a drift.
  if (first > 0 && last > 200 + first * plan.drift)
    other.push(`half of the pages took ${first.toFixed(0)} ms in the first quarter, ${last.toFixed(0)} ms in the last`);
  if (!holds(REUSE)) other.push(`only ${percent(REUSE).toFixed(0)} % of the requests reused an open connection`);
  // A page that always takes this long is slow, not faulty.
  const isSlow = ({ name, limit, firstByte }: Duration) =>
    name.startsWith("/") && limit.p95 && !limit.firstByte && firstByte > 300;
  const slow = durations.filter(isSlow).map(({ name, firstByte }): Failure => {
    const text = `p95 of the first byte is ${firstByte.toFixed(0)} ms`;
    return { check: "warning", at: name, traceId: "", text };
  });
  const missing = checks.some(({ result }) => result === "not measured") || durations.some(isUnmeasured);
  const open = unverified(plan);
  const found: [Result, boolean][] = [
    ["integrity", broken.length > 0],
    ["availability", unavailable.length > 0],
    ["incomplete", missing || iterations === 0 || (options.target !== "" && open.length > 0)],
    ["limits", failed.length > 0 || other.length > 0 || durations.some(({ ok }) => !ok)],
  ];
  const result = found.find(([, holds]) => holds)?.[0] ?? "passed";
  const rate = options.rate ?? profile.rate;
  const enabled = journeysFor(options);
  return {
    profile: plan.name,
    target: options.baseUrl,
    ...run,
    seconds,
    result,
    exit: EXIT[result],
    integrity: { broken: broken.reduce((sum, check) => sum + check.failed, 0), answered },
    availability: answered === 0 ? 0 : (100 * answered) / (answered + unanswered),
    wanted: plan.availability,
    unavailable,
    checks,
    durations,
    unanswered: failuresOf("availability"),
    warnings: [...failures.filter(({ check }) => check === "warning"), ...slow],
    /** Iterations per second when a threshold stopped the run. */
    breakpoint:
      profile.stopAtLimit && result !== "passed" ? Math.min(rate, (rate * seconds) / plateauOf(plan)) : undefined,
    load: { iterations, dropped, requests: count("http_reqs") },
    other,
    unverified: open,
    disabled: JOURNEY_NAMES.filter((name) => !enabled.includes(name)),
    settings: { ...options, dsn: `${options.dsn.host}/${options.dsn.project}` },
  };
}

type Values = (metric: string) => Record<string, number>;
/** Whether k6 found no threshold of this metric crossed. */
type Holds = (metric: string) => boolean;

function checkResult(id: CheckId, values: Values, holds: Holds, failures: Failure[]): CheckResult {
  const { passes: passed = 0, fails: failed = 0 } = values(`checks{check:${id}}`);
  const result = passed + failed === 0 ? "not measured" : holds(`checks{check:${id}}`) ? "passed" : "failed";
  return { id, name: CHECKS[id], passed, failed, result, failures };
}

function durationOf({ name, selector, limit }: Row, values: Values, holds: Holds) {
  const { count = 0, med: p50 = 0, "p(95)": p95 = 0, "p(99)": p99 = 0, max = 0 } = values(TIME + selector);
  const p95Of = (metric: string) => values(metric + selector)["p(95)"] ?? 0;
  const ok = [TIME, FIRST_BYTE, TCP, TLS].every((metric) => holds(metric + selector));
  return { name, count, p50, p95, p99, max, firstByte: p95Of(FIRST_BYTE), tcp: p95Of(TCP), tls: p95Of(TLS), limit, ok };
}

/** Whether a row has no samples. Delivery has a check of its own. */
export const isUnmeasured = ({ count, name }: { count: number; name: string }) => count === 0 && name !== "delivery";

/** What the suite did not verify although nobody declared it off, and why. */
function unverified({ options }: Plan): { what: string; why: string }[] {
  const enabled = journeysFor(options);
  const { host, project } = options.dsn;
  const isOpen = (setting: string) => !options.declared.includes(setting);
  const stores = !options.sendEvents && options.tunnelPath !== "";
  const stored = isLocalIngest(options.dsn)
    ? "found no local ingest to read from"
    : `cannot read from project ${project} at ${host}`;
  const sends = enabled.some(sendsEnvelopes);
  const all: [what: string, why: string, holds: boolean][] = [
    ["delivery", `run.sh ${stored}: set INGEST (README), or off`, sends && !options.ingest && isOpen("INGEST")],
    ["accepted envelopes", "set SEND_EVENTS: yes stores events for good", stores && isOpen("SEND_EVENTS")],
    ["compressed envelopes", "set COMPRESSED to on or off", sends && !options.compressed && isOpen("COMPRESSED")],
    ["results of actions", "set ACTION_EXPECT, or off", enabled.includes("action") && isOpen("ACTION_EXPECT")],
    ["targets of redirects", "set REDIRECT_TO, or off", enabled.includes("redirect") && isOpen("REDIRECT_TO")],
    ["browser", `${options.noBrowser}, or set BROWSER=off`, options.browser && options.noBrowser !== ""],
  ];
  const undeclared = Object.keys(TESTED).filter(isOpen);
  return [
    ...undeclared.map((name) => ({ what: TESTED[name] ?? "", why: `neither declared nor seen: set ${name}, or off` })),
    ...all.filter(([, , holds]) => holds).map(([what, why]) => ({ what, why })),
  ];
}
