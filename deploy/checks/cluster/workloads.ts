import { failed, ok, type Result, skipped } from "../result.ts";
import { condition, type Facts, type Item, isReady, namespace, role, selecting } from "./facts.ts";

/** Why a workload is not available. Without a fix: its pods do not say. `isFinal`: it will not pass by itself. */
interface Trouble {
  found: string;
  fix?: string;
  isFinal?: boolean;
}
const apply = "apply the values again";

function trouble(facts: Facts, workload: Item): Trouble | undefined {
  const wanted = workload.spec.replicas ?? 1;
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = workload.status ?? {};
  if (wanted === 0) return { found: "scaled to 0", fix: apply, isFinal: true };
  // With surge, a new pod that cannot start counts as updated, and the old one as available.
  const isReplaced = observedGeneration >= (workload.metadata.generation ?? 0) && replicas <= updatedReplicas;
  if (isReplaced && updatedReplicas >= wanted && availableReplicas >= wanted) return undefined;
  const available = `${availableReplicas} of ${wanted} pods are available`;
  const found = availableReplicas >= wanted ? "its rollout has not replaced all pods" : available;
  const isStarting = (pod: Item) => !isReady(pod) && !pod.metadata.deletionTimestamp;
  const pods = facts.of("Pod").filter((pod) => role(pod) === role(workload) && isStarting(pod));
  const lost = facts.nodes.find((node) => {
    const isOn = pods.some((pod) => pod.spec.nodeName === node.metadata.name);
    return isOn && condition(node, "Ready")?.status === "Unknown";
  });
  if (lost) {
    const [node, since] = [lost.metadata.name, condition(lost, "Ready").lastTransitionTime];
    const fix = `is it gone? kubectl delete node ${node}`;
    return { found: `${found}: the kubelet of ${node} has not answered since ${since}`, fix, isFinal: true };
  }
  const [waits] = pods.flatMap((pod) => waiting(pod) ?? []);
  if (waits) return { ...waits, found: `${found}: ${waits.found}` };
  const unscheduled = pods
    .map((pod) => condition(pod, "PodScheduled"))
    .find((scheduled) => scheduled?.status === "False");
  return { found, fix: (unscheduled ?? condition(workload, "ReplicaFailure"))?.message };
}

/** Why a pod's containers do not run. */
function waiting({ metadata: { name }, spec, status }: Item): Trouble | undefined {
  const states: Item["spec"][] = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const stuck = states.find(({ state }) => /BackOff|Err|Invalid/.test(state?.waiting?.reason ?? ""));
  if (!stuck) return undefined;
  const { reason, message = "" } = stuck.state.waiting;
  const all: Item["spec"][] = [...(spec.initContainers ?? []), ...spec.containers];
  const where = `${name} (${all.find(({ name }) => name === stuck.name)?.image}): ${reason}`;
  if (reason !== "CrashLoopBackOff") return { found: where, fix: message, isFinal: true };
  const { message: last = "", exitCode } = stuck.lastState?.terminated ?? {};
  const said = last.trim().split("\n").at(-1) || `exit code ${exitCode}`;
  const fix = `kubectl -n ${namespace} logs ${name} -c ${stuck.name} --previous`;
  return { found: `${where}: ${said}`, fix, isFinal: true };
}

const workloadId = (role: string) => `workload:${role}`;

/** `pending`: what waiting may help. */
export function checkWorkloads(facts: Facts): { results: Result[]; pending: string[] } {
  const isTunnelAlone = facts.workloads.some(({ spec }) =>
    spec.template.spec.containers[0].env?.some(({ name, value }: Item["spec"]) => name === "WEB" && value === "off"),
  );
  const expected = isTunnelAlone ? ["proxy"] : ["proxy", "web"];
  const missing = expected.filter((name) => !facts.workloads.some((workload) => role(workload) === name));
  const faults = facts.workloads.map((workload) => ({ workload, fault: trouble(facts, workload) }));
  const hasWeb = !missing.includes("web") && !faults.some(({ workload, fault }) => fault && role(workload) === "web");
  const left: (Trouble & { name: string })[] = [];
  const states = faults.map(({ workload, fault }) => {
    const { name } = workload.metadata;
    const extra = { id: workloadId(role(workload)) };
    if (!fault) return ok(name, `${workload.spec.replicas ?? 1} available`, extra);
    // It may be ended.
    if (role(workload) === "web-previous" && workload.spec.replicas === 0) return skipped(name, fault.found, extra);
    // Until web has answered a proxy, it is not ready.
    if (role(workload) === "proxy" && !hasWeb && !fault.fix)
      return skipped(name, "not ready before web is", { ...extra, follows: [workloadId("web")] });
    left.push({ ...fault, name });
    const fix = fault.fix ?? `kubectl -n ${namespace} describe pod ${selecting(role(workload))}`;
    return failed(name, fault.found, fix, extra);
  });
  const absent = missing.map((name) => failed(`Deployment ${name}`, "missing", apply, { id: workloadId(name) }));
  const pending = left.some(({ isFinal }) => isFinal) ? [] : left.map(({ name, found }) => `${name}: ${found}`);
  return { results: [...absent, ...states], pending };
}
