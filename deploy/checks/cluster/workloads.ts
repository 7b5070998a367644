import { failed, ok, type Result, skipped } from "../result.ts";
import { condition, type Facts, type Item, isReady, namespace, role, selecting } from "./facts.ts";

interface Trouble {
  found: string;
  fix: string;
  /** It will not pass by itself. */
  isFinal?: boolean;
  /** The pods wait for this, whatever else is missing. */
  isOwn?: boolean;
}
const apply = "apply the values again";

/** What keeps a workload from being available; nothing if it is. */
function trouble(facts: Facts, workload: Item): Trouble | undefined {
  const wanted = workload.spec.replicas ?? 1;
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = workload.status ?? {};
  if (wanted === 0) return { found: "scaled to 0", fix: apply, isFinal: true };
  // With surge, a new pod that cannot start counts as updated, and the old one as available.
  const isReplaced = observedGeneration >= (workload.metadata.generation ?? 0) && replicas <= updatedReplicas;
  if (isReplaced && updatedReplicas >= wanted && availableReplicas >= wanted) return undefined;
  const done = Math.max(0, updatedReplicas - (replicas - wanted));
  const available = `${availableReplicas} of ${wanted} pods are available`;
  const found = availableReplicas >= wanted ? `its rollout has replaced ${done} of ${wanted} pods` : available;
  const pods = facts
    .of("Pod")
    .filter((pod) => role(pod) === role(workload) && !isReady(pod) && !pod.metadata.deletionTimestamp);
  const gone = pods.find((pod) => lostNodes(facts).some(({ metadata }) => metadata.name === pod.spec.nodeName));
  if (gone) return { found: `${found}: ${gone.metadata.name}`, fix: `see node ${gone.spec.nodeName}`, isFinal: true };
  const [waits] = pods.flatMap((pod) => waiting(pod) ?? []);
  if (waits) return { found: `${found}: ${waits.found}`, fix: waits.fix, isFinal: true, isOwn: true };
  const unscheduled = pods
    .map(({ status }) => condition(status, "PodScheduled"))
    .find((one) => one?.status === "False");
  const message = (unscheduled ?? condition(workload.status, "ReplicaFailure"))?.message ?? unmounted(pods);
  const describe = `kubectl -n ${namespace} describe pod ${selecting(role(workload))}`;
  return { found, fix: message ?? describe, isOwn: message !== undefined };
}

const states = ({ status }: Item): Item["spec"][] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

/** Why a pod's containers do not run. */
function waiting(pod: Item): Trouble | undefined {
  const { name } = pod.metadata;
  const stuck = states(pod).find(({ state }) => /BackOff|Err|Invalid/.test(state?.waiting?.reason ?? ""));
  if (!stuck) return undefined;
  const { reason, message = "" } = stuck.state.waiting;
  const all: Item["spec"][] = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const where = `${name} (${all.find((one) => one.name === stuck.name)?.image}): ${reason}`;
  if (reason !== "CrashLoopBackOff") return { found: where, fix: message };
  const { message: last = "", exitCode } = stuck.lastState?.terminated ?? {};
  const said = last.trim().split("\n").at(-1) || `exit code ${exitCode}`;
  return { found: `${where}: ${said}`, fix: `kubectl -n ${namespace} logs ${name} -c ${stuck.name} --previous` };
}

/** What to look for if a pod creates no container: most often, a Secret or a ConfigMap that it mounts is missing. */
function unmounted(pods: Item[]): string | undefined {
  const pod = pods.find((one) => one.status?.containerStatuses && states(one).every(({ state }) => state?.waiting));
  const mounted = (pod?.spec.volumes ?? []).flatMap(({ secret, configMap }: Item["spec"]) =>
    secret ? `secret/${secret.secretName}` : configMap ? `configmap/${configMap.name}` : [],
  );
  return mounted.length ? `is one of these missing: kubectl -n ${namespace} get ${mounted.join(" ")}` : undefined;
}

const lostNodes = ({ nodes }: Facts) => nodes.filter(({ status }) => condition(status, "Ready")?.status === "Unknown");

/** Names each node with pods of the kit whose kubelet does not answer. */
export const checkNodes = (facts: Facts): Result[] =>
  lostNodes(facts).flatMap(({ metadata: { name }, status }) => {
    const pods = facts.of("Pod").filter(({ spec }) => spec.nodeName === name);
    const since = `its kubelet has not answered since ${condition(status, "Ready").lastTransitionTime}`;
    const found = `${since}: ${pods.map(({ metadata }) => metadata.name).join(", ")}`;
    return pods.length ? [failed(`node ${name}`, found, `is it gone? kubectl delete node ${name}`)] : [];
  });

/** Checks whether all workloads are available. `isPending`: waiting may help. */
export function checkWorkloads(facts: Facts): { results: Result[]; isPending: boolean } {
  const found = facts.workloads();
  const missing = ["proxy", "web"].filter((name) => !found.some((workload) => role(workload) === name));
  const results = missing.map((name) => failed(`Deployment ${name}`, "missing", apply));
  let [hasWeb, isPending, isFinal] = [!missing.includes("web"), false, false];
  // Proxies come last: until web has answered one, it is not ready.
  const isProxy = (workload: Item) => Number(role(workload) === "proxy");
  for (const workload of found.toSorted((a, b) => isProxy(a) - isProxy(b))) {
    const { name } = workload.metadata;
    const fault = trouble(facts, workload);
    const follows = Boolean(isProxy(workload)) && !hasWeb && !fault?.isOwn;
    // An earlier release may be ended before the next one.
    const isEnded = role(workload) === "web-previous" && workload.spec.replicas === 0;
    if (!fault) results.push(ok(name, `${workload.spec.replicas ?? 1} available`));
    else if (isEnded || follows) results.push(skipped(name, isEnded ? fault.found : "not ready before web is"));
    else results.push(failed(name, fault.found, fault.fix));
    isPending ||= Boolean(fault && !fault.isFinal && !follows);
    isFinal ||= Boolean(fault?.isFinal && !isEnded);
    if (fault && role(workload) === "web") hasWeb = false;
  }
  return { results, isPending: isPending && !isFinal };
}
