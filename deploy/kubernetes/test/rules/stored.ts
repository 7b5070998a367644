import type { Resource } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

/** Booleans that Kubernetes' types hold without a pointer, as `omitempty`: false is the same as not there. */
const droppedWhenFalse = [
  ...["hostIPC", "hostNetwork", "hostPID", "publishNotReadyAddresses", "readOnly", "stdin", "stdinOnce", "tty"],
  ...["paused", "stderr"],
];

/** How the API server writes a quantity: 1Gi for 1024Mi, 1 for 1000m, no fraction. */
const canonical = /^(?!0*$)(?!\d*000m$)(?!\d*(1024|2048|4096)[KMG]i$)\d+(m|k|M|G|Ki|Mi|Gi)?$/;

/**
 * What is applied is what the API server keeps: it drops empty lists and texts, nulls and some booleans that are false, and writes
 * quantities its own way. Such a field differs at every look: `kubectl diff` is never clean, and Argo CD and Flux see drift for ever.
 * Objects of custom resources are kept as they are; a ConfigMap's values are data.
 */
export const storedAsWritten: Rule = (objects) =>
  objects
    .filter(({ apiVersion }) => isBuiltIn(apiVersion))
    .flatMap((object) => {
      const at = `${object.kind} ${object.metadata.name}`;
      return fields(object as Resource & { data?: object }).flatMap(({ path, value }) => {
        const key = path.split(".").at(-1) ?? "";
        const dropped =
          value === null ||
          value === "" ||
          (Array.isArray(value) && value.length === 0) ||
          (value === false && droppedWhenFalse.includes(key));
        if (dropped) return [`${at}: ${path} is not kept`];
        const quantity = /\.(requests|limits)\.\w+$|\.sizeLimit$/.test(path);
        return quantity && !canonical.test(String(value)) ? [`${at}: ${path} is kept in another form`] : [];
      });
    });

/** Kubernetes' own groups have no dot, or end in k8s.io. */
const isBuiltIn = (apiVersion: string) => !/^[^/]*\.[^/]*(?<!k8s\.io)\//.test(apiVersion);

function fields({ data, ...object }: Resource & { data?: object }): { path: string; value: unknown }[] {
  const walk = (value: unknown, path: string): { path: string; value: unknown }[] =>
    typeof value === "object" && value !== null
      ? [
          { path, value },
          ...Object.entries(value).flatMap(([key, child]) => walk(child, path ? `${path}.${key}` : key)),
        ]
      : [{ path, value }];
  return walk(object.kind === "ConfigMap" ? object : { ...object, ...(data && { data }) }, "");
}
