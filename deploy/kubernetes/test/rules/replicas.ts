import { controllers, leastReplicas, matches, of } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

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

/** What keeps its content in memory and so can only be one pod: two would answer differently. */
const inMemory = ["cache", "ingest"];

/** A rollout starts the new before it stops the old, but for what can only be one. */
export const rolloutsKeepCapacity: Rule = (objects) =>
  of(objects, "Deployment")
    .filter(({ metadata: { name }, spec }) =>
      inMemory.includes(name)
        ? spec?.strategy?.type !== "Recreate" || leastReplicas(objects, name) > 1
        : spec?.strategy?.rollingUpdate?.maxUnavailable !== 0,
    )
    .map(({ metadata }) => `${metadata.name}: a rollout may stop pods before their successors are ready`);

/**
 * Where there are several pods, no node holds all of them while there is a second one: a hard spread over nodes, of which two can
 * differ by less than all pods. It counts the pods of one release (else a rollout could put the new ones together), and only nodes
 * that take pods (else nothing could replace those of a lost one).
 */
export const anyNodeMayBeLost: Rule = (objects) =>
  of(objects, "Deployment").flatMap(({ metadata: { name }, spec }) => {
    const least = leastReplicas(objects, name);
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
      spread && spread.nodeTaintsPolicy !== "Honor" && "a lost node counts, so that nothing may be started elsewhere",
      spread && !matches(spread.labelSelector?.matchLabels, labels) && "the spread counts other pods",
      spread && !spread.matchLabelKeys?.includes("pod-template-hash") && "the spread counts pods of the old release",
    ].flatMap((problem) => (problem ? [`${name}: ${problem}`] : []));
  });

/**
 * A leaving pod keeps its CPU request until it is gone. A rollout that replaces the next one only then needs room for two maxSurge of
 * pods; one that does not, for twice all pods. Only pods of web are large enough for that to matter.
 */
export const rolloutsFitTheNodes: Rule = (objects) =>
  of(objects, "Deployment")
    .filter(({ metadata }) => metadata.name === "web")
    .filter(({ spec }) => (spec?.minReadySeconds ?? 0) < (spec?.template.spec?.terminationGracePeriodSeconds ?? 30))
    .map(({ metadata }) => `${metadata.name}: a rollout replaces pods faster than the old ones leave`);

/** README's one command restarts everything that may read a Secret or a ConfigMap which was made by hand. */
export const restartedByLabel: Rule = (objects) =>
  controllers(objects)
    .filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/part-of"] !== "culvert")
    .map(({ metadata }) => `${metadata.name}: is not part of culvert, and so is not restarted with the others`);
