import { JOURNEYS, journeysFor } from "../journeys/index.ts";
import { CHECK_IDS, CHECKS, type CheckId } from "../lib/checks.ts";
import type { Options } from "../lib/options.ts";
import { balanceLimit, SLOTS } from "./balance.ts";
import { type LoadProfile, PROFILES, type ProfileName } from "./profiles.ts";
import { plannedIterations } from "./scenarios.ts";

type Limit = { threshold: string; abortOnFail: boolean; delayAbortEval: string };
export type Thresholds = Record<string, Limit[]>;

/** Counts the samples of each check and duration, by tag: a rate or trend without samples passes any threshold, a counter does not. */
export const SAMPLES = "check_samples";
/** Time to a page's last byte, with or without an incoming trace. */
export const PAGE_TIME = "page_duration";
/** Time to the response for one envelope. */
export const TUNNEL_TIME = "tunnel_duration";
/** The page duration while the ingest is down, which the outage profile compares with its limit. */
export const PAGE_TIME_DOWN = `${PAGE_TIME}{phase:down}`;
export const BALANCE = "trace_id_balance";

/** The checks that must have samples by the end of a run. */
export function requiredChecks(profile: ProfileName, options: Options): CheckId[] {
  const required = new Set<CheckId>(journeysFor(options).flatMap((name) => [...JOURNEYS[name].checks]));
  required.add("iteration_ok");
  if (profile === "outage") required.add("tunnel_retryable");
  return CHECK_IDS.filter((id) => required.has(id));
}

/** Every threshold of a run. A check that no journey requires has one too, in case it has samples. */
export function thresholds(profile: ProfileName, options: Options): Thresholds {
  const table: LoadProfile = PROFILES[profile];
  const limit = (threshold: string): Limit => ({
    threshold,
    abortOnFail: table.stopAtLimit ?? false,
    delayAbortEval: "10s",
  });
  const final = (threshold: string): Limit => ({ threshold, abortOnFail: false, delayAbortEval: "0s" });
  const all: Thresholds = {};
  for (const id of CHECK_IDS) all[id] = [limit(`rate>=${CHECKS[id].share}`)];
  const durations = options.tunnelPath ? [PAGE_TIME, TUNNEL_TIME] : [PAGE_TIME];
  for (const id of [...requiredChecks(profile, options), ...durations])
    all[`${SAMPLES}{of:${id}}`] = [final("count>0")];

  all[PAGE_TIME] = [limit(`p(95)<${options.maxPageP95Ms}`)];
  if (profile === "outage") {
    all[PAGE_TIME_DOWN] = [limit(`p(95)<${options.maxPageP95Ms}`)];
    all[`${SAMPLES}{of:${PAGE_TIME},phase:down}`] = [final("count>0")];
  }
  if (options.tunnelPath) all[TUNNEL_TIME] = [limit(`p(95)<${options.maxTunnelP95Ms}`)];
  all.iterations = [final("count>0")];
  // A dropped iteration means that the load was lower than planned.
  all.dropped_iterations = [limit(`count<=${Math.floor(plannedIterations(profile, options) / 100)}`)];

  // On average an iteration receives less than one new id, because most send their own.
  const maxImbalance = balanceLimit(plannedIterations(profile, options));
  for (let slot = 0; slot < SLOTS; slot++)
    all[`${BALANCE}{slot:${slot}}`] = [final(`count<=${maxImbalance}`), final(`count>=${-maxImbalance}`)];
  return all;
}
