import { controllers, matches, minReplicas, of } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

/**
 * Every autoscaler has a Deployment with CPU requests and without `replicas`, which would reset the autoscaler's number at every
 * apply.
 */
export const autoscalersOwnReplicas: Rule = (objects) =>
  of(objects, "HorizontalPodAutoscaler").flatMap(({ metadata: { name }, spec }) => {
    const target = of(objects, "Deployment").find(({ metadata }) => metadata.name === spec?.scaleTargetRef.name);
    if (!spec || !target) return [`autoscaler ${name}: there is no ${spec?.scaleTargetRef.name}`];
    const pods = target.spec?.template.spec?.containers ?? [];
    return [
      target.spec?.replicas !== undefined && "the Deployment sets replicas",
      (spec.minReplicas ?? 1) >= spec.maxReplicas && "minReplicas is not less than maxReplicas",
      pods.some(({ resources }) => !resources?.requests?.cpu) && "a container has no CPU request",
    ].flatMap((problem) => (problem ? [`autoscaler ${name}: ${problem}`] : []));
  });

/** Every budget selects pods of one Deployment and always allows one eviction, so that nodes can be drained. */
export const budgetsAllowDrains: Rule = (objects) =>
  of(objects, "PodDisruptionBudget").flatMap(({ metadata: { name }, spec }) => {
    const selected = of(objects, "Deployment").filter((deployment) =>
      matches(spec?.selector?.matchLabels, deployment.spec?.template.metadata?.labels ?? {}),
    );
    const least = selected.map(({ metadata }) => minReplicas(objects, metadata.name));
    const replicas = least[0];
    if (replicas === undefined || least.length > 1) return [`budget ${name} is for ${least.length} Deployments`];
    const evictable =
      spec?.minAvailable !== undefined ? replicas - Number(spec.minAvailable) : Number(spec?.maxUnavailable);
    return evictable >= 1 ? [] : [`budget ${name} allows no eviction of ${replicas} pods`];
  });

/**
 * A StatefulSet has one pod, because two writers would corrupt its database, and is Parallel: with OrderedReady, a pod that cannot start
 * is not replaced even when its template is fixed: https://github.com/kubernetes/kubernetes/issues/67250
 */
export const statefulSetsHaveOnePod: Rule = (objects) =>
  of(objects, "StatefulSet").flatMap(({ metadata: { name }, spec }) =>
    [
      spec?.replicas !== 1 && `${spec?.replicas ?? 1} pods would write to one database`,
      spec?.podManagementPolicy !== "Parallel" && "a pod that does not become ready would never be replaced",
    ].flatMap((problem) => (problem ? [`${name}: ${problem}`] : [])),
  );

/** Workloads with their content in memory: one pod only, because two would have different content. */
const inMemory = ["cache", "ingest"];

/** A rollout starts new pods before it stops old ones, except for single in-memory pods. */
export const rolloutsKeepCapacity: Rule = (objects) =>
  of(objects, "Deployment")
    .filter(({ metadata: { name }, spec }) =>
      inMemory.includes(name)
        ? spec?.strategy?.type !== "Recreate" || minReplicas(objects, name) > 1
        : spec?.strategy?.rollingUpdate?.maxUnavailable !== 0,
    )
    .map(({ metadata }) => `${metadata.name}: a rollout may stop pods before their successors are ready`);

/**
 * Several pods are never all on one of two nodes: an enforced topology spread with a skew of less than all pods. It counts the pods of
 * one release (else a rollout could put all new ones on one node), and only schedulable nodes (else pods of a lost one could not be
 * replaced).
 */
export const podsSpreadOverNodes: Rule = (objects) =>
  of(objects, "Deployment").flatMap(({ metadata: { name }, spec }) => {
    const least = minReplicas(objects, name);
    if (least === 1) return [];
    const pod = spec?.template;
    const spread = pod?.spec?.topologySpreadConstraints?.find(
      ({ topologyKey, whenUnsatisfiable }) =>
        topologyKey === "kubernetes.io/hostname" && whenUnsatisfiable === "DoNotSchedule",
    );
    const labels = pod?.metadata?.labels ?? {};
    return [
      !spread && "all pods may be put on one node",
      spread && spread.maxSkew >= least && `a skew of ${spread.maxSkew} lets all ${least} pods share a node`,
      spread && spread.nodeTaintsPolicy !== "Honor" && "lost nodes are counted, which blocks replacements",
      spread && !matches(spread.labelSelector?.matchLabels, labels) && "the spread counts other pods",
      spread && !spread.matchLabelKeys?.includes("pod-template-hash") && "the spread counts pods of the old release",
    ].flatMap((problem) => (problem ? [`${name}: ${problem}`] : []));
  });

/**
 * A terminating pod keeps its CPU request until it is gone. A rollout that waits for that needs capacity for two maxSurge of pods; one
 * that does not, for twice all pods. It matters only for web, whose pods are large.
 */
export const rolloutsWaitForTermination: Rule = (objects) =>
  of(objects, "Deployment")
    .filter(({ metadata }) => metadata.name === "web")
    .filter(({ spec }) => (spec?.minReadySeconds ?? 0) < (spec?.template.spec?.terminationGracePeriodSeconds ?? 30))
    .map(({ metadata }) => `${metadata.name}: a rollout replaces pods faster than the old ones terminate`);

/** Every controller has the label by which the README's command restarts all readers of a changed Secret. */
export const controllersHaveRestartLabel: Rule = (objects) =>
  controllers(objects)
    .filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/part-of"] !== "culvert")
    .map(({ metadata }) => `${metadata.name}: lacks the label app.kubernetes.io/part-of: culvert`);
