import { CHECK_IDS, shareOf } from "../lib/checks.ts";
import { AVAILABILITY, REUSE, SAMPLES, TIME } from "../lib/client.ts";
import type { Plan } from "./plan.ts";

/** Every threshold of a run. k6 reports a tag's values only if a threshold names it. Without samples, a rate passes any threshold. */
export function thresholds(plan: Plan) {
  const all: Record<string, { threshold: string; abortOnFail: boolean; delayAbortEval: string }[]> = {};
  const add = (metric: string, threshold: string, abortOnFail = plan.profile.stopAtLimit ?? false) => {
    all[metric] = [...(all[metric] ?? []), { threshold, abortOnFail, delayAbortEval: "10s" }];
  };
  const timeout = `p(95)<${1000 * plan.options.timeout}`;
  for (const id of CHECK_IDS) add(`checks{check:${id}}`, `rate>=${shareOf(id)}`);
  for (const id of plan.checks) add(`${SAMPLES}{check:${id}}`, "count>0", false);
  for (const { name, selector, limit } of plan.rows) {
    const { p95, p99, firstByte, connect } = limit;
    add(TIME + selector, name === "delivery" ? "max>=0" : "max>0", false);
    if (p95 !== undefined) add(TIME + selector, `p(95)<${p95}`);
    if (p99 !== undefined) add(TIME + selector, `p(99)<${p99}`);
    add(FIRST_BYTE + selector, firstByte === undefined ? timeout : `p(95)<${firstByte}`);
    for (const metric of [TCP, TLS]) add(metric + selector, connect === undefined ? timeout : `p(95)<${connect}`);
  }
  for (const kind of plan.kinds) add(`${AVAILABILITY}{kind:${kind}}`, `rate>=${plan.availability / 100}`);
  add(REUSE, `rate>=${plan.reuse / 100}`);
  for (const quarter of ["first", "last"]) add(`${TIME}{kind:page,quarter:${quarter}}`, timeout);
  add("iterations", "count>0", false);
  add("dropped_iterations", `rate<=${(plan.options.rate ?? plan.profile.rate) / 100}`);
  return all;
}

export const FIRST_BYTE = "http_req_waiting";
export const [TCP, TLS] = ["http_req_connecting", "http_req_tls_handshaking"] as const;
