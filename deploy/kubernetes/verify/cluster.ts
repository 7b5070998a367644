import { exec, type Item, list, namespace } from "./api.ts";
import { open } from "./entry.ts";
import { failed, ok, skipped } from "./result.ts";
import { kit, role } from "./workloads.ts";

const prometheus = process.env.PROMETHEUS || "prometheus-operated.monitoring.svc:9090";

/** Whether policies isolate each of these pods in both directions, and whether the network plugin enforces them. */
export async function checkPolicies(pods: Item[]): Promise<void> {
  const policies = await list("networkpolicies");
  const selecting = (pod: Item) =>
    policies.filter(({ spec }) =>
      Object.entries(spec.podSelector.matchLabels ?? {}).every(([key, value]) => pod.metadata.labels?.[key] === value),
    );
  const own = policies.filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/part-of"] === "culvert");
  if (own.length === 0) return skipped("network policies: not used");
  for (const pod of pods) {
    const types = selecting(pod).flatMap(({ spec }) => spec.policyTypes ?? ["Ingress"]);
    const open = ["Ingress", "Egress"].filter((type) => !types.includes(type));
    if (open.length > 0)
      return void failed(
        `network policies: none restricts ${role(pod)}'s ${open.join(" and ").toLowerCase()}: apply the overlay or the chart again`,
      );
  }
  const [proxy] = pods.filter((pod) => role(pod) === "proxy");
  // Only kubelet and Prometheus may reach this port.
  const reached = await open(proxy?.status.podIP, 8081).then(
    (socket) => socket.destroy(),
    () => undefined,
  );
  if (reached)
    failed(
      "network policies: not enforced: this check reaches the proxy's port for probes: does the network plugin support NetworkPolicy?",
    );
  else ok("network policies: enforced");
}

/** Whether the proxy has metrics, and Prometheus scrapes them. */
export async function checkMetrics(proxy: Item): Promise<void> {
  const { output } = await exec(proxy, "curl", "-s", "-m", "5", "http://127.0.0.1:8081/metrics");
  if (/^culvert_requests_total/m.test(output)) ok("metrics: available");
  else failed("metrics: none on the proxy's port 8081");
  if ((await list("podmonitors")).length === 0) return skipped("metrics scraped: the component monitoring is not used");
  const query = `http://${prometheus}/api/v1/query?query=${encodeURIComponent(`up{namespace="${namespace}"}==1`)}`;
  const found = await fetch(query, { signal: AbortSignal.timeout(5000) }).then(
    (response) => response.text(),
    () => "",
  );
  if (found.includes('"value"')) ok(`metrics: scraped by ${prometheus}`);
  else if (found)
    failed(`metrics: not scraped by ${prometheus}: does its podMonitorSelector want a label, such as release?`);
  else skipped(`metrics scraped: ${prometheus} is not reached: set PROMETHEUS to its address`);
}

/** Whether autoscalers have metrics; they get the first ones within a minute or two. */
export async function checkAutoscalers(seconds: number): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  const names = (await list("horizontalpodautoscalers", kit)).map(({ metadata }) => metadata.name);
  if (names.length === 0) skipped("autoscaling: not used");
  for (const name of names) {
    for (;;) {
      const scaler = (await list("horizontalpodautoscalers")).find(({ metadata }) => metadata.name === name);
      const active = scaler?.status?.conditions?.find(({ type }: { type: string }) => type === "ScalingActive");
      if (active?.status === "True") {
        ok(`autoscaler ${name}: has metrics`);
        break;
      }
      if (Date.now() > deadline) {
        failed(`autoscaler ${name}: ${active?.message ?? "no status"}: is metrics-server installed?`);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

/** On how many nodes the pods of a Deployment are. */
export function checkSpread(name: string, pods: Item[]): void {
  const nodes = new Set(pods.map(({ spec }) => spec.nodeName)).size;
  if (nodes > 1) ok(`${name}: on ${nodes} nodes`);
  else
    skipped(
      `${name}: all on one node, whose loss stops them: with several nodes, kubectl -n ${namespace} rollout restart deployment/${name}`,
    );
}
