import { parseDsn } from "../dsn.ts";
import { failed, ok, type Result, skipped, warning } from "../result.ts";
import { type Answer, condition, type Facts, type Item, matches, named, namespace, PROMETHEUS, role } from "./facts.ts";

/** Checks whether policies isolate each of these pods in both directions, and whether the network plugin enforces them. */
export function checkPolicies(facts: Facts, answers: Answer[]): Result[] {
  const check = "network policies";
  const policies = facts.of("NetworkPolicy");
  if (policies.length === 0) return [skipped(check, "not used")];
  const selects = ({ matchLabels, matchExpressions = [] }: Item["spec"], labels: Record<string, string> = {}) =>
    matches(matchLabels, labels) &&
    matchExpressions.every(({ key, values }: Item["spec"]) => values.includes(labels[key]));
  for (const { pod } of answers) {
    const own = policies.filter(({ spec }) => selects(spec.podSelector, pod.metadata.labels));
    const open = ["Ingress", "Egress"].filter((type) => !own.some(({ spec }) => spec.policyTypes.includes(type)));
    const found = `none restricts ${role(pod)}'s ${open.join(" and ").toLowerCase()}`;
    if (open.length > 0) return [failed(check, found, "apply the values again")];
  }
  // Only kubelet and Prometheus may reach this port.
  const isReached = answers.find((one) => one.isReached !== undefined)?.isReached;
  if (isReached === undefined) return [skipped(check, "web could not try the proxy's port for probes")];
  const found = "not enforced: web reaches the proxy's port for probes";
  return [isReached ? failed(check, found, "does the network plugin support NetworkPolicy?") : ok(check, "enforced")];
}

/** Checks whether the proxy has metrics, and Prometheus scrapes them. */
export function checkMetrics(facts: Facts, { pod, metrics }: Answer): Result[] {
  if (!metrics) return [failed("metrics", "none on port 8081", `kubectl -n ${namespace} logs ${pod.metadata.name}`)];
  const [own, check, found] = [ok("metrics", "available"), "scraped metrics", facts.section("prometheus")];
  if (!facts.section("monitors").includes('PodMonitor"')) return [own, skipped(check, "monitoring.enabled is off")];
  if (!found) return [own, skipped(check, `${PROMETHEUS} is not reached: set PROMETHEUS to its address`)];
  const fix = "does its podMonitorSelector want a label, such as release?";
  return [own, found.includes('"value"') ? ok(check, `by ${PROMETHEUS}`) : failed(check, `not by ${PROMETHEUS}`, fix)];
}

/** Checks whether autoscalers have metrics; they get the first ones within a minute or two. `down` are workloads that are not available. */
export function checkAutoscalers(facts: Facts, down: string[]): Result[] {
  const scalers = facts.of("HorizontalPodAutoscaler");
  if (scalers.length === 0) return [skipped("autoscaling", "not used")];
  return scalers.map(({ metadata, spec, status }) => {
    const [check, active, target] = [
      `autoscaler ${metadata.name}`,
      condition(status, "ScalingActive"),
      spec.scaleTargetRef,
    ];
    if (active?.status === "True") return ok(check, "has metrics");
    if (down.includes(target.name)) return skipped(check, `has no metrics: ${target.name} is not available`);
    return failed(check, active?.message ?? "no status", "is metrics-server installed?");
  });
}

/** Checks on how many nodes the pods of a workload are. */
export const checkSpread = (facts: Facts): Result[] =>
  facts.workloads().flatMap((workload) => {
    const [name, pods] = [workload.metadata.name, facts.serving(role(workload))];
    if (!/^(proxy|web|spool)$/.test(role(workload)) || pods.length === 0) return [];
    const nodes = new Set(pods.map(({ spec }) => spec.nodeName)).size;
    if (nodes > 1) return [ok(name, `on ${nodes} nodes`)];
    const fix = `with several nodes, kubectl -n ${namespace} rollout restart ${named(workload)}`;
    return [warning(name, "all on one node, whose loss stops them", fix)];
  });

/** Compares the DSN with which pods run with one another, and with the Secret's. */
export function checkDsn(facts: Facts, answers: Answer[]): Result[] {
  const secret = Buffer.from(facts.section("secret"), "base64").toString().trim();
  const wanted = secret || answers[0]?.settings.SENTRY_DSN;
  const copy = "copy it again from the project's Client Keys page into the Secret";
  if (wanted && !parseDsn(wanted))
    return [failed("DSN", "the Secret's is not a DSN: the next pod does not start", copy)];
  const roles = answers.filter(({ settings }) => settings.SENTRY_DSN !== wanted).map(({ pod }) => role(pod));
  if (roles.length === 0) return [];
  const names = facts
    .workloads()
    .filter((one) => roles.includes(role(one)))
    .map(named);
  const restart = `kubectl -n ${namespace} rollout restart ${names.join(" ")}`;
  if (roles.length === answers.length)
    return [warning("DSN", "pods run with an older Secret: the next pod takes the new DSN", `is it right? ${restart}`)];
  return [failed("DSN", `${[...new Set(roles)].join(" and ")} has another DSN than the other pods`, restart)];
}

/** What `kubectl diff` has found: objects that differ from what was rendered, or are missing. */
export function checkRendered(facts: Facts): Result[] {
  const [error = ""] = facts.section("error diff").split("\n");
  if (error) return [failed("rendered", `cannot be compared: ${error}`, "does kubectl diff work?")];
  return facts
    .section("diff")
    .split(/^(?=diff )/m)
    .flatMap((part) => {
      const [, kind, name] = /\/MERGED-\d+\/\S*?\.([A-Z][A-Za-z]*)\.[^.\s]*\.(\S+)/.exec(part) ?? [];
      const found = part.includes("\n@@ -0,0 ") ? "missing" : "differs from what was rendered";
      return kind ? [failed(`${kind}/${name}`, found, "kubectl diff shows how; apply again")] : [];
    });
}
