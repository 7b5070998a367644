import { type Item, list, namespace, until } from "./api.ts";
import { failed, ok, type Result, skipped } from "./result.ts";

const instance = process.env.INSTANCE ? `,app.kubernetes.io/instance=${process.env.INSTANCE}` : "";
/** The labels of the deployment's objects. */
export const kit = `app.kubernetes.io/part-of=culvert${instance}`;

/** The labels of a role's pods, for `kubectl -l`. */
export const selector = (name: string) => `app.kubernetes.io/name=${name}${instance}`;

/** The role of an object: proxy, web, spool, cache or ingest. */
export const role = ({ metadata }: Item): string => metadata.labels?.["app.kubernetes.io/name"] ?? "";

/** A role's pods that serve: ready, and not terminating. Only these are asked. */
export async function servingPods(name: string): Promise<Item[]> {
  const pods = await list("pods", `${kit},app.kubernetes.io/name=${name}`);
  return pods.filter(({ metadata, status }) => {
    const ready = status?.conditions?.find(({ type }: { type: string }) => type === "Ready");
    return !metadata.deletionTimestamp && ready?.status === "True";
  });
}

/** Deployments and StatefulSets of the kit. */
export const workloads = async (): Promise<Item[]> => [
  ...(await list("deployments", kit)),
  ...(await list("statefulsets", kit)),
];

interface Trouble {
  found: string;
  fix: string;
  /** It will not pass by itself. */
  isFinal?: boolean;
  /** The pods wait for this, whatever else is missing. */
  isOwn?: boolean;
}

const apply = "apply the overlay or the chart again";

/** What keeps a workload from being available; nothing if it is. */
async function trouble(workload: Item): Promise<Trouble | undefined> {
  const { replicas = 1 } = workload.spec;
  const { observedGeneration = 0, updatedReplicas = 0, availableReplicas = 0, conditions = [] } = workload.status ?? {};
  if (replicas === 0) return { found: "scaled to 0", fix: apply, isFinal: true };
  if (
    observedGeneration >= (workload.metadata.generation ?? 0) &&
    updatedReplicas >= replicas &&
    availableReplicas >= replicas
  )
    return undefined;
  const all = await list("pods", `${kit},app.kubernetes.io/name=${role(workload)}`);
  const pods = all.filter(({ metadata }) => !metadata.deletionTimestamp);
  const [waits] = pods.flatMap((pod) => waiting(pod) ?? []);
  if (waits) return { ...waits, isFinal: true, isOwn: true };
  const unscheduled = pods
    .flatMap(({ status }) => status?.conditions ?? [])
    .find(({ type, status }) => type === "PodScheduled" && status === "False");
  const refused = conditions.find(
    ({ type, status }: Record<string, string>) => type === "ReplicaFailure" && status === "True",
  );
  const message = (unscheduled ?? refused)?.message ?? unmounted(pods);
  const fix = message ?? `kubectl -n ${namespace} describe pod -l ${selector(role(workload))}`;
  return { found: `${availableReplicas} of ${replicas} pods are available`, fix, isOwn: message !== undefined };
}

/** Why a pod's containers do not run. */
function waiting({ metadata, status }: Item): Trouble | undefined {
  for (const container of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const { reason, message = "" } = container.state?.waiting ?? {};
    if (!/BackOff|Err|Invalid/.test(reason ?? "")) continue;
    const logs = `kubectl -n ${namespace} logs ${metadata.name} -c ${container.name} --previous`;
    if (reason !== "CrashLoopBackOff") return { found: reason, fix: message };
    const { message: last = "", exitCode } = container.lastState?.terminated ?? {};
    const said = last.trim().split("\n").at(-1) || `exit code ${exitCode}`;
    return { found: `crash loop: ${said}`, fix: logs };
  }
  return undefined;
}

/** What to look for if a pod creates no container: most often, a Secret or a ConfigMap that it mounts is missing. */
function unmounted(pods: Item[]): string | undefined {
  const waits = ({ status }: Item) =>
    [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].every(
      ({ state }) => state?.waiting,
    );
  const volumes: Item["spec"][] = pods.find((pod) => pod.status?.containerStatuses && waits(pod))?.spec.volumes ?? [];
  const mounted = volumes.flatMap(({ secret, configMap }) =>
    secret ? `secret/${secret.secretName}` : configMap ? `configmap/${configMap.name}` : [],
  );
  return mounted.length ? `is one of these missing: kubectl -n ${namespace} get ${mounted.join(" ")}` : undefined;
}

/** Waits until all workloads are available: after a first deployment, in a rollout, while the autoscaler adds pods. */
export async function checkWorkloads(seconds: number): Promise<Result[]> {
  const deadline = Date.now() + seconds * 1000;
  const found = await workloads();
  const missing = ["proxy", "web"].filter((name) => !found.some((workload) => role(workload) === name));
  const results = missing.map((name) => failed(`Deployment ${name}`, "missing", apply));
  // Proxies come last: until web has answered one, it is not ready.
  const isProxy = (workload: Item) => Number(role(workload) === "proxy");
  let hasWeb = !missing.includes("web");
  for (const workload of found.toSorted((a, b) => isProxy(a) - isProxy(b))) {
    const { name } = workload.metadata;
    const ask = async () => {
      const now = (await workloads()).find(({ metadata }) => metadata.name === name);
      return { replicas: now?.spec.replicas ?? 1, fault: now && (await trouble(now)) };
    };
    const follows = (fault: Trouble) => Boolean(isProxy(workload)) && !hasWeb && !fault.isOwn;
    const { replicas, fault } = await until(deadline, ask, ({ fault: one }) => !one || one.isFinal || follows(one));
    // An earlier release may be ended before the next one.
    if (replicas === 0 && role(workload) === "web-previous") results.push(skipped(name, "scaled to 0"));
    else if (!fault) results.push(ok(name, `${replicas} available`));
    else if (follows(fault)) results.push(skipped(name, "not ready before web is"));
    else results.push(failed(name, fault.found, fault.fix));
    if (fault && role(workload) === "web") hasWeb = false;
  }
  return results;
}
