import { balanceLimit, SLOTS } from "./balance.ts";
import { CHECK_IDS, CHECKS, type CheckId } from "./checks.ts";
import { JOURNEYS, journeysFor } from "./journeys.ts";
import type { Knobs } from "./knobs.ts";
import { plannedVisits } from "./scenarios.ts";
import { PROFILES, type Profile, type ProfileName } from "./stages.ts";

type Limit = { threshold: string; abortOnFail: boolean; delayAbortEval: string };
export type Thresholds = Record<string, Limit[]>;

/** Counts the samples of each check and speed, by tag: a rate or a time without samples passes any threshold, a count does not. */
export const SAMPLES = "check_samples";
/** Time to a page's last byte, fresh and continued ones alike. */
export const PAGE_TIME = "page_duration";
/** Time to the answer for one report. */
export const TUNNEL_TIME = "tunnel_duration";
/** The same page's time while the ingest is down: the outage profile asks whether readers notice. */
export const PAGE_TIME_DOWN = `${PAGE_TIME}{phase:down}`;
export const BALANCE = "trace_id_balance";

/** The checks that must have samples by the end of a run. */
export function demandedChecks(profile: ProfileName, knobs: Knobs): CheckId[] {
  const demanded = new Set<CheckId>(journeysFor(knobs).flatMap((name) => [...JOURNEYS[name].checks]));
  demanded.add("iteration_ok");
  if (profile === "outage") demanded.add("tunnel_honest");
  return CHECK_IDS.filter((id) => demanded.has(id));
}

/** Every threshold of a run. A check that no journey owes is judged too, should it have samples. */
export function thresholds(profile: ProfileName, knobs: Knobs): Thresholds {
  const table: Profile = PROFILES[profile];
  const limit = (threshold: string): Limit => ({
    threshold,
    abortOnFail: table.stopAtLimit ?? false,
    delayAbortEval: "10s",
  });
  const final = (threshold: string): Limit => ({ threshold, abortOnFail: false, delayAbortEval: "0s" });
  const all: Thresholds = {};
  for (const id of CHECK_IDS) all[id] = [limit(`rate>=${CHECKS[id].share}`)];
  const speeds = knobs.tunnelPath ? [PAGE_TIME, TUNNEL_TIME] : [PAGE_TIME];
  for (const id of [...demandedChecks(profile, knobs), ...speeds]) all[`${SAMPLES}{of:${id}}`] = [final("count>0")];

  all[PAGE_TIME] = [limit(`p(95)<${knobs.pageP95}`)];
  if (profile === "outage") {
    all[PAGE_TIME_DOWN] = [limit(`p(95)<${knobs.pageP95}`)];
    all[`${SAMPLES}{of:${PAGE_TIME},phase:down}`] = [final("count>0")];
  }
  if (knobs.tunnelPath) all[TUNNEL_TIME] = [limit(`p(95)<${knobs.tunnelP95}`)];
  all.iterations = [final("count>0")];
  // A visit that was never made is a load that was never there.
  all.dropped_iterations = [limit(`count<=${Math.floor(plannedVisits(profile, knobs) / 100)}`)];

  // On average a visit is given less than one id: most bring their own.
  const stray = balanceLimit(plannedVisits(profile, knobs));
  for (let slot = 0; slot < SLOTS; slot++)
    all[`${BALANCE}{slot:${slot}}`] = [final(`count<=${stray}`), final(`count>=${-stray}`)];
  return all;
}
