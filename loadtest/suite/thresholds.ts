import { journey, journeysFor } from "../journeys/index.ts";
import { CHECK_IDS, type CheckId, shareOf } from "../lib/checks.ts";
import type { Kind } from "../lib/client.ts";
import type { Options } from "../lib/options.ts";
import { balanceLimit, SLOTS } from "./balance.ts";
import type { Baseline } from "./baseline.ts";
import { type Limits, type Row, rowOf } from "./limits.ts";
import { type LoadProfile, PROFILES, type ProfileName } from "./profiles.ts";
import { plannedIterations } from "./scenarios.ts";

type Threshold = { threshold: string; abortOnFail: boolean; delayAbortEval: string };
export type Thresholds = Record<string, Threshold[]>;

/** Counts the samples of each check and row of durations: a rate or trend without samples passes any threshold, a counter does not. */
export const SAMPLES = "check_samples";
/** Time to a response's last byte; a request that timed out counts with the whole time that it waited. */
export const TIME = "response_time";
export const TIMED_OUT = "timed_out";
/** Share of requests that were answered. */
export const AVAILABILITY = "availability";
/** The row of pages while the ingest is down. */
export const PAGES_DOWN = "pages while the ingest is down";
/** Answers that failed a check of integrity. */
export const BROKEN = "broken_answers";
export const BALANCE = "trace_id_balance";
/** Pages by thirtieths of the run, for the report's chart. */
export const TIMELINE = "timeline";
export const TIMELINE_ANSWERED = "timeline_answered";
export const SLICES = 30;

/** What a run is compared with, and what it must have measured. */
export interface Plan {
  profile: ProfileName;
  options: Options;
  limits: Limits;
  baseline?: Baseline;
}

/** The checks that must have samples by the end of a run. */
export function requiredChecks(profile: ProfileName, options: Options): CheckId[] {
  const names = journeysFor(options);
  const required = new Set<CheckId>(names.flatMap((name) => [...journey(name).checks]));
  required.add("iteration_ok");
  if (names.includes("browse") && options.trace) required.add("fresh_valid").add("fresh_unique");
  if (names.includes("browse") && options.navigation) required.add("navigation_ok");
  if (names.includes("notFound") && options.noindex !== "off") required.add("not_found_noindex");
  if (options.ingest && names.some((name) => journey(name).envelopes)) required.add("delivered").add("unaltered");
  if (profile === "outage") required.add("tunnel_retryable");
  return CHECK_IDS.filter((id) => required.has(id));
}

/** The share of a check's samples that must pass. Without a limit for pages no speed is judged: a busy machine is not a fault. */
export function requiredShare({ limits }: Pick<Plan, "limits">, id: CheckId): number {
  return id === "page_independent" && !limits.times.page ? 0 : shareOf(id);
}

/** The kinds of requests that a run sends, besides pages. */
export function kindsOf(options: Options): Kind[] {
  const names = journeysFor(options);
  const kinds = new Set(names.flatMap((name) => journey(name).kinds ?? []));
  if (names.includes("browse") && options.navigation) kinds.add("navigation");
  return [...kinds];
}

/** The rows of durations: one for each page, one for each other kind of request that the run sends. */
export function rows({ options, limits }: Pick<Plan, "options" | "limits">): Row[] {
  const names = journeysFor(options);
  const onlyPages = names.some((name) => name === "browse" || name === "continued" || name === "assets");
  const pages = new Set(onlyPages ? options.pages : []);
  if (names.includes("outgoing")) pages.add(options.tracePage);
  if (names.includes("action")) pages.add(options.actionPage);
  const others = kindsOf(options).filter((kind) => kind !== "rejected" && kind !== "upstream");
  return [...[...pages].map((page) => rowOf("page", page, limits)), ...others.map((kind) => rowOf(kind, kind, limits))];
}

/** Every threshold of a run. A check that no journey requires has one too, in case it has samples. */
export function thresholds({ profile, options, limits, baseline }: Plan): Thresholds {
  const { stopAtLimit }: LoadProfile = PROFILES[profile];
  const limit = (threshold: string): Threshold => ({
    threshold,
    abortOnFail: stopAtLimit ?? false,
    delayAbortEval: "10s",
  });
  const final = (threshold: string): Threshold => ({ threshold, abortOnFail: false, delayAbortEval: "0s" });
  // k6 reports the values of a tag only if a threshold names it.
  const reported = (metric: string) =>
    final(metric === TIMED_OUT ? "count>=0" : metric.includes("answered") ? "rate>=0" : "max>=0");
  const all: Thresholds = {};
  for (const id of CHECK_IDS) all[id] = [limit(`rate>=${requiredShare({ limits }, id)}`)];
  for (const id of requiredChecks(profile, options)) all[`${SAMPLES}{of:${id}}`] = [final("count>0")];

  for (const { name, selector, limit: own } of rows({ options, limits })) {
    const former = baseline?.times[name];
    all[`${TIME}${selector}`] = [
      reported(TIME),
      ...Object.entries(own).map(([key, ms]) => limit(`${key === "p95" ? "p(95)" : "p(99)"}<${ms}`)),
      ...(former ? [final(`p(95)<=${former.max}`)] : []),
    ];
    all[`${TIMED_OUT}${selector}`] = [reported(TIMED_OUT)];
    all[`${SAMPLES}{of:${name}}`] = [final("count>0")];
  }
  for (const kind of ["page", ...kindsOf(options)])
    all[`${AVAILABILITY}{kind:${kind}}`] = [limit(`rate>=${limits.availability / 100}`)];
  if (profile === "outage") {
    all[`${TIME}{kind:page,phase:down}`] = [reported(TIME), limit(`p(95)<${limits.times.page?.p95 ?? 500}`)];
    all[`${SAMPLES}{of:${PAGES_DOWN}}`] = [final("count>0")];
  }
  for (let slice = 0; slice < SLICES; slice++) {
    all[`${TIMELINE}{slice:${slice}}`] = [reported(TIMELINE)];
    all[`${TIMELINE_ANSWERED}{slice:${slice}}`] = [reported(TIMELINE_ANSWERED)];
  }
  all.iterations = [final("count>0")];
  const planned = plannedIterations(profile, options);
  // A dropped iteration means that the load was lower than planned.
  all.dropped_iterations = [limit(`count<=${Math.floor(planned / 100)}`)];
  // An iteration receives at most ten new ids, on average less than one, because most send their own.
  const maxImbalance = balanceLimit(planned);
  for (let slot = 0; slot < SLOTS; slot++)
    all[`${BALANCE}{slot:${slot}}`] = [final(`count<=${maxImbalance}`), final(`count>=${-maxImbalance}`)];
  return all;
}
