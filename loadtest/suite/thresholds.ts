import { CHECK_IDS, shareOf } from "../lib/checks.ts";
import { AVAILABILITY, SAMPLES, TIME } from "../lib/client.ts";
import type { Plan } from "./plan.ts";
import { plannedIterations } from "./scenarios.ts";

/** Every threshold of a run. k6 reports the values of a tag only if a threshold names it, so some can't be crossed. */
export function thresholds(plan: Plan) {
  const all: Record<string, { threshold: string; abortOnFail: boolean; delayAbortEval: string }[]> = {};
  const add = (metric: string, threshold: string, abortOnFail = false) => {
    all[metric] = [...(all[metric] ?? []), { threshold, abortOnFail, delayAbortEval: "10s" }];
  };
  const limit = (metric: string, threshold: string) => add(metric, threshold, plan.profile.stopAtLimit);
  for (const id of CHECK_IDS) limit(`checks{check:${id}}`, `rate>=${shareOf(id)}`);
  const rows = plan.rows.map(({ name }) => name).filter((name) => name !== "delivery");
  for (const of of [...plan.checks, ...rows]) add(`${SAMPLES}{of:${of}}`, "count>0");
  for (const { selector, limit: own } of plan.rows) {
    add(TIME + selector, "max>=0");
    if (own.p95 !== undefined) limit(TIME + selector, `p(95)<${own.p95}`);
    if (own.p99 !== undefined) limit(TIME + selector, `p(99)<${own.p99}`);
  }
  for (const kind of plan.kinds) limit(`${AVAILABILITY}{kind:${kind}}`, `rate>=${plan.availability / 100}`);
  add("iterations", "count>0");
  // A dropped iteration means that the load was lower than planned.
  limit("dropped_iterations", `count<=${Math.floor(plannedIterations(plan) / 100)}`);
  return all;
}
