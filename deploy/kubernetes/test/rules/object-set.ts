import { workloads } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

/** The recommended labels, by which tools group objects: https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/ */
export const recommendedLabels: Rule = (objects) =>
  workloads(objects)
    .filter(({ kind }) => kind === "service")
    .flatMap(({ name, labels }) =>
      Object.entries({ "app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "culvert" })
        .filter(([label, value]) => labels[label] !== value)
        .map(([label]) => `${name}: its pods lack ${label}`),
    );
