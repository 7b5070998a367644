import { type Resource, workloads } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

const clusterWide = ["Namespace"];

/** Everything lands in the one namespace that is part of it. */
export const oneNamespace: Rule = (objects) => {
  const home = objects.find(({ kind }) => kind === "Namespace")?.metadata.name;
  return objects
    .filter(({ kind, metadata }) => !clusterWide.includes(kind) && (!home || metadata.namespace !== home))
    .map(({ kind, metadata }) => `${kind} ${metadata.name} is in ${metadata.namespace}, not in ${home}`);
};

/** Applied from top to bottom, nothing comes before what it needs. */
export const applyOrder: Rule = (objects) => {
  const needed = ["Namespace", "ServiceAccount", "ConfigMap", "Service"];
  const last = (kind: string) => objects.findLastIndex((object) => object.kind === kind);
  const firstPod = objects.findIndex(({ kind }) => ["Deployment", "StatefulSet", "TestRun"].includes(kind));
  return needed
    .filter((kind) => last(kind) > firstPod || (kind === "Namespace" && last(kind) > 0))
    .map((kind) => `a ${kind} comes too late`);
};

/** The labels that tools group by: https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/ */
export const recommendedLabels: Rule = (objects) =>
  workloads(objects)
    .filter(({ kind }) => kind === "service")
    .flatMap(({ name, labels }) =>
      Object.entries({ "app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "culvert" })
        .filter(([label, value]) => labels[label] !== value)
        .map(([label]) => `${name}: its pods lack ${label}`),
    );

/** No two objects of one kind and name: the later would replace the earlier. */
export const noTwins: Rule = (objects) => {
  const id = ({ apiVersion, kind, metadata }: Resource) =>
    `${apiVersion} ${kind} ${metadata.namespace} ${metadata.name}`;
  return objects.map(id).filter((each, i, all) => all.indexOf(each) !== i);
};
