import type { Resource } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

/** Booleans with `omitempty` in Kubernetes' types: false is dropped. */
const droppedWhenFalse = [
  ...["hostIPC", "hostNetwork", "hostPID", "publishNotReadyAddresses", "readOnly", "stdin", "stdinOnce", "tty"],
  ...["paused", "stderr"],
];

/** The API server's canonical form of a quantity: 1Gi for 1024Mi, 1 for 1000m, no fraction. */
const canonical = /^(?!0*$)(?!\d*000m$)(?!\d*(1024|2048|4096)[KMG]i$)\d+(m|k|M|G|Ki|Mi|Gi)?$/;

/**
 * Objects are written in the form that the API server stores. It drops empty lists and strings, nulls and some false booleans, and
 * normalizes quantities; with such a field, `kubectl diff` is never clean, and Argo CD and Flux always see drift. Custom resources and
 * the values of ConfigMaps are stored unchanged.
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
        if (dropped) return [`${at}: ${path} is not stored`];
        const quantity = /\.(requests|limits)\.\w+$|\.sizeLimit$/.test(path);
        return quantity && !canonical.test(String(value)) ? [`${at}: ${path} is stored in another form`] : [];
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
