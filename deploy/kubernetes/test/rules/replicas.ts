import { matches, of, type Resource } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

/** How many pods of a Deployment there are at least. */
export function leastReplicas(objects: Resource[], deployment: string): number {
  const scaler = of(objects, "HorizontalPodAutoscaler").find(({ spec }) => spec?.scaleTargetRef.name === deployment);
  const found = of(objects, "Deployment").find(({ metadata }) => metadata.name === deployment);
  return scaler?.spec?.minReplicas ?? found?.spec?.replicas ?? 1;
}

/**
 * An autoscaler finds its Deployment and the CPU requests it reckons with, and is the only one that sets the number:
 * a number in the Deployment would undo its work at every apply.
 */
export const autoscalersOwnTheNumber: Rule = (objects) =>
  of(objects, "HorizontalPodAutoscaler").flatMap(({ metadata: { name }, spec }) => {
    const target = of(objects, "Deployment").find(({ metadata }) => metadata.name === spec?.scaleTargetRef.name);
    if (!spec || !target) return [`autoscaler ${name}: there is no ${spec?.scaleTargetRef.name}`];
    const pods = target.spec?.template.spec?.containers ?? [];
    return [
      target.spec?.replicas !== undefined && "the Deployment sets a number of its own",
      (spec.minReplicas ?? 1) >= spec.maxReplicas && "there is nothing between its bounds",
      pods.some(({ resources }) => !resources?.requests?.cpu) && "a container requests no CPU to reckon with",
    ].flatMap((problem) => (problem ? [`autoscaler ${name}: ${problem}`] : []));
  });

/** A budget protects pods that exist, and always leaves one that may be moved: else no node could ever be drained. */
export const budgetsLetNodesDrain: Rule = (objects) =>
  of(objects, "PodDisruptionBudget").flatMap(({ metadata: { name }, spec }) => {
    const selected = of(objects, "Deployment").filter((deployment) =>
      matches(spec?.selector?.matchLabels, deployment.spec?.template.metadata?.labels ?? {}),
    );
    const least = selected.map(({ metadata }) => leastReplicas(objects, metadata.name));
    const replicas = least[0];
    if (replicas === undefined || least.length > 1) return [`budget ${name} is for ${least.length} Deployments`];
    const movable =
      spec?.minAvailable !== undefined ? replicas - Number(spec.minAvailable) : Number(spec?.maxUnavailable);
    return movable >= 1 ? [] : [`budget ${name} lets none of ${replicas} pods be moved`];
  });

/**
 * What keeps its state on a volume is one pod: two writers would corrupt it. And that one is replaced although it is not ready: in order
 * (the default), a pod that can't start stays, even when its template is put right: https://github.com/kubernetes/kubernetes/issues/67250
 */
export const statefulIsSingle: Rule = (objects) =>
  of(objects, "StatefulSet").flatMap(({ metadata: { name }, spec }) =>
    [
      spec?.replicas !== 1 && `${spec?.replicas ?? 1} pods would write to one database`,
      spec?.podManagementPolicy !== "Parallel" && "a pod that does not get ready would never be replaced",
    ].flatMap((problem) => (problem ? [`${name}: ${problem}`] : [])),
  );

/** A rollout starts the new before it stops the old. The local ingest keeps its events in memory, so it can only be one. */
export const rolloutsKeepCapacity: Rule = (objects) =>
  of(objects, "Deployment")
    .filter(({ spec }) => spec?.strategy?.type !== "Recreate" || leastReplicas(objects, "ingest") > 1)
    .filter(({ spec }) => spec?.strategy?.type === "Recreate" || spec?.strategy?.rollingUpdate?.maxUnavailable !== 0)
    .map(({ metadata }) => `${metadata.name}: a rollout may stop pods before their successors are ready`);
