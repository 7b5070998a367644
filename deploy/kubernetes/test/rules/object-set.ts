import { type Resource, workloads } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

const clusterWide = ["Namespace"];

/** All objects are in the one namespace that is rendered. */
export const oneNamespace: Rule = (objects) => {
  const namespace = objects.find(({ kind }) => kind === "Namespace")?.metadata.name;
  return objects
    .filter(({ kind, metadata }) => !clusterWide.includes(kind) && (!namespace || metadata.namespace !== namespace))
    .map(({ kind, metadata }) => `${kind} ${metadata.name} is in ${metadata.namespace}, not in ${namespace}`);
};

/** Objects that pods need come before the pods. */
export const applyOrder: Rule = (objects) => {
  const needed = ["Namespace", "ServiceAccount", "ConfigMap", "Service"];
  const last = (kind: string) => objects.findLastIndex((object) => object.kind === kind);
  const firstPod = objects.findIndex(({ kind }) => ["Deployment", "StatefulSet", "TestRun"].includes(kind));
  return needed
    .filter((kind) => last(kind) > firstPod || (kind === "Namespace" && last(kind) > 0))
    .map((kind) => `a ${kind} comes too late`);
};

/** The recommended labels, by which tools group objects: https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/ */
export const recommendedLabels: Rule = (objects) =>
  workloads(objects)
    .filter(({ kind }) => kind === "service")
    .flatMap(({ name, labels }) =>
      Object.entries({ "app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "culvert" })
        .filter(([label, value]) => labels[label] !== value)
        .map(([label]) => `${name}: its pods lack ${label}`),
    );

/** No two objects have the same kind and name. */
export const noDuplicates: Rule = (objects) => {
  const id = ({ apiVersion, kind, metadata }: Resource) =>
    `${apiVersion} ${kind} ${metadata.namespace} ${metadata.name}`;
  return objects.map(id).filter((each, i, all) => all.indexOf(each) !== i);
};
