import { type Item, list, namespace } from "./api.ts";
import { failed, ok } from "./result.ts";

const instance = process.env.INSTANCE ? `,app.kubernetes.io/instance=${process.env.INSTANCE}` : "";
/** The labels of the deployment's objects. */
export const kit = `app.kubernetes.io/part-of=culvert${instance}`;

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

/** What keeps a workload from being available, and whether that will not pass by itself; nothing if it is available. */
async function trouble(workload: Item): Promise<{ why: string; final: boolean } | undefined> {
  const { replicas = 1 } = workload.spec;
  const { observedGeneration = 0, updatedReplicas = 0, availableReplicas = 0, conditions = [] } = workload.status ?? {};
  if (replicas === 0) return { why: "scaled to 0: apply the overlay or the chart again", final: true };
  if (
    observedGeneration >= (workload.metadata.generation ?? 0) &&
    updatedReplicas >= replicas &&
    availableReplicas >= replicas
  )
    return undefined;
  const pods = await list("pods", `${kit},app.kubernetes.io/name=${role(workload)}`);
  for (const pod of pods.filter(({ metadata }) => !metadata.deletionTimestamp)) {
    const why = waiting(pod);
    if (why) return { why, final: true };
  }
  const unscheduled = pods
    .flatMap(({ status }) => status?.conditions ?? [])
    .find(({ type, status }) => type === "PodScheduled" && status === "False");
  const refused = conditions.find(
    ({ type, status }: Record<string, string>) => type === "ReplicaFailure" && status === "True",
  );
  const why =
    (unscheduled ?? refused)?.message ??
    unmounted(pods) ??
    `kubectl -n ${namespace} describe pod -l app.kubernetes.io/name=${role(workload)}`;
  return { why: `${availableReplicas} of ${replicas} pods are available: ${why}`, final: false };
}

/** Why a pod's containers do not run. */
function waiting({ metadata, status }: Item): string | undefined {
  for (const container of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const { reason, message = "" } = container.state?.waiting ?? {};
    if (!/BackOff|Err|Invalid/.test(reason ?? "")) continue;
    if (reason !== "CrashLoopBackOff") return `${reason}: ${message}`;
    const { message: last = "", exitCode } = container.lastState?.terminated ?? {};
    const said = last.trim().split("\n").at(-1) || `exit code ${exitCode}`;
    return `crash loop: ${said}: kubectl -n ${namespace} logs ${metadata.name} -c ${container.name} --previous`;
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
export async function checkWorkloads(seconds: number): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  const found = await workloads();
  for (const name of ["proxy", "web"])
    if (!found.some((workload) => role(workload) === name))
      failed(`Deployment ${name}: missing: apply the overlay or the chart again`);
  // Proxies come last: until web has answered one, it is not ready.
  const isProxy = (workload: Item) => Number(role(workload) === "proxy");
  let hasWeb = found.some((workload) => role(workload) === "web");
  for (const workload of found.toSorted((a, b) => isProxy(a) - isProxy(b))) {
    const { metadata } = workload;
    for (;;) {
      const now = (await workloads()).find((workload) => workload.metadata.name === metadata.name);
      const fault = now && (await trouble(now));
      if (!fault) {
        ok(`${metadata.name}: ${now?.spec.replicas ?? 1} available`);
        break;
      }
      if (!fault.final && isProxy(workload) && !hasWeb) break;
      if (fault.final || Date.now() > deadline) {
        failed(`${metadata.name}: ${fault.why}`);
        if (role(workload) === "web") hasWeb = false;
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}
