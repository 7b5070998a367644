import { failed, ok, type Result, skipped, warning } from "../result.ts";
import { type Answer, condition, type Facts, logs, PROMETHEUS } from "./facts.ts";

/** Checks whether the network plugin enforces policies: only kubelet and Prometheus may reach the proxy's port for probes. */
export function checkPolicies(facts: Facts, web?: Answer): Result {
  const check = "network policies";
  if (facts.of("NetworkPolicy").length === 0) return skipped(check, "not used");
  if (web?.isReached === undefined) return skipped(check, "web could not try the proxy's port for probes");
  const found = "not enforced: web reaches the proxy's port for probes";
  return web.isReached ? failed(check, found, "does the network plugin support NetworkPolicy?") : ok(check, "enforced");
}

/** Checks whether the proxy has metrics, and Prometheus scrapes them. */
export function checkMetrics(facts: Facts, { metrics }: Answer): Result[] {
  if (!metrics) return [failed("metrics", "none on port 8081", logs("proxy"))];
  const [own, check, found] = [ok("metrics", "available"), "scraped metrics", facts.lines("prometheus").join()];
  if (!found) return [own, skipped(check, `${PROMETHEUS} is not reached: set PROMETHEUS to its address`)];
  const fix = "monitoring.enabled, and the label that its podMonitorSelector wants, such as release";
  return [own, found.includes('"value"') ? ok(check, `by ${PROMETHEUS}`) : warning(check, `not by ${PROMETHEUS}`, fix)];
}

/** Checks whether autoscalers have metrics; they get the first ones within a minute or two. `down` are workloads that are not available. */
export const checkAutoscalers = (facts: Facts, down: string[]): Result[] =>
  facts.of("HorizontalPodAutoscaler").map((scaler) => {
    const [check, target] = [`autoscaler ${scaler.metadata.name}`, scaler.spec.scaleTargetRef.name];
    const active = condition(scaler, "ScalingActive");
    if (active?.status === "True") return ok(check, "has metrics");
    if (down.includes(target)) return skipped(check, `has no metrics: ${target} is not available`);
    return failed(check, active?.message ?? "no status", "is metrics-server installed?");
  });

/** What `kubectl diff` has found. */
export function checkRendered(facts: Facts): Result[] {
  const [error] = facts.lines("error diff");
  if (error) return [failed("rendered", `cannot be compared: ${error}`, "does kubectl diff work?")];
  return facts.lines("diff").flatMap((line) => {
    const [, kind, name] = /^diff .*\/MERGED-\d+\/\S*?\.([A-Z][A-Za-z]*)\.[^.\s]*\.(\S+)/.exec(line) ?? [];
    const found = "is missing, or differs from what was rendered";
    return kind ? [failed(`${kind}/${name}`, found, "kubectl diff shows how; apply again")] : [];
  });
}
