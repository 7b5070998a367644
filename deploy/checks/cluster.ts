import { connect } from "node:net";
import { exec, type Item, list, namespace, until } from "./api.ts";
import { failed, ok, type Result, skipped, warning } from "./result.ts";
import { kit, role } from "./workloads.ts";

const prometheus = process.env.PROMETHEUS || "prometheus-operated.monitoring.svc:9090";

/** Whether a connection can be opened within 5 s. */
const isReached = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 5000 });
    for (const event of ["connect", "timeout", "error"])
      socket.once(event, () => {
        socket.destroy();
        resolve(event === "connect");
      });
  });

/** Checks whether policies isolate each of these pods in both directions, and whether the network plugin enforces them. */
export async function checkPolicies(pods: Item[]): Promise<Result[]> {
  const check = "network policies";
  const policies = await list("networkpolicies");
  const selecting = (pod: Item) =>
    policies.filter(({ spec }) =>
      Object.entries(spec.podSelector.matchLabels ?? {}).every(([key, value]) => pod.metadata.labels?.[key] === value),
    );
  const own = policies.filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/part-of"] === "culvert");
  if (own.length === 0) return [skipped(check, "not used")];
  for (const pod of pods) {
    const types = selecting(pod).flatMap(({ spec }) => spec.policyTypes ?? ["Ingress"]);
    const open = ["Ingress", "Egress"].filter((type) => !types.includes(type));
    const found = `none restricts ${role(pod)}'s ${open.join(" and ").toLowerCase()}`;
    if (open.length > 0) return [failed(check, found, "apply the overlay or the chart again")];
  }
  const proxy = pods.find((pod) => role(pod) === "proxy" && pod.status.podIP);
  if (!proxy) return [skipped(check, "no pod of the proxy has an address yet")];
  // Only kubelet and Prometheus may reach this port.
  if (!(await isReached(proxy.status.podIP, 8081))) return [ok(check, "enforced")];
  const found = "not enforced: this check reaches the proxy's port for probes";
  return [failed(check, found, "does the network plugin support NetworkPolicy?")];
}

/** Checks whether the proxy has metrics, and Prometheus scrapes them. */
export async function checkMetrics(proxy: Item): Promise<Result[]> {
  const { output } = await exec(proxy, "curl", "-s", "-m", "5", "http://127.0.0.1:8081/metrics");
  if (!/^culvert_requests_total/m.test(output))
    return [failed("metrics", "none on the proxy's port 8081", `kubectl -n ${namespace} logs ${proxy.metadata.name}`)];
  const own = ok("metrics", "available");
  const check = "scraped metrics";
  if ((await list("podmonitors", kit)).length === 0)
    return [own, skipped(check, "the component monitoring is not used")];
  const query = `http://${prometheus}/api/v1/query?query=${encodeURIComponent(`up{namespace="${namespace}"}==1`)}`;
  const found = await fetch(query, { signal: AbortSignal.timeout(5000) }).then(
    (response) => response.text(),
    () => "",
  );
  if (!found) return [own, skipped(check, `${prometheus} is not reached: set PROMETHEUS to its address`)];
  if (found.includes('"value"')) return [own, ok(check, `by ${prometheus}`)];
  return [own, failed(check, `not by ${prometheus}`, "does its podMonitorSelector want a label, such as release?")];
}

/** Checks whether autoscalers have metrics; they get the first ones within a minute or two. `down` are workloads that are not available. */
export async function checkAutoscalers(seconds: number, down: string[]): Promise<Result[]> {
  const deadline = Date.now() + seconds * 1000;
  const scalers = await list("horizontalpodautoscalers", kit);
  const results = scalers.length === 0 ? [skipped("autoscaling", "not used")] : [];
  for (const { metadata, spec } of scalers) {
    const check = `autoscaler ${metadata.name}`;
    const target = spec.scaleTargetRef?.name;
    const isDown = down.includes(target);
    const ask = async () => {
      const scaler = (await list("horizontalpodautoscalers")).find(({ metadata: { name } }) => name === metadata.name);
      return scaler?.status?.conditions?.find(({ type }: { type: string }) => type === "ScalingActive");
    };
    const active = await until(deadline, ask, (one) => one?.status === "True" || isDown);
    if (active?.status === "True") results.push(ok(check, "has metrics"));
    else if (isDown) results.push(skipped(check, `has no metrics: ${target} is not available`));
    else results.push(failed(check, active?.message ?? "no status", "is metrics-server installed?"));
  }
  return results;
}

/** Checks on how many nodes the pods of a workload are. `workload` is kind/name. */
export function checkSpread(workload: string, pods: Item[]): Result {
  const [, name = ""] = workload.split("/");
  const nodes = new Set(pods.map(({ spec }) => spec.nodeName)).size;
  if (nodes > 1) return ok(name, `on ${nodes} nodes`);
  const fix = `with several nodes, kubectl -n ${namespace} rollout restart ${workload}`;
  return warning(name, "all on one node, whose loss stops them", fix);
}
