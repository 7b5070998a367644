import { of, type Resource } from "./objects.ts";

/** The prefix of the chart's names in these tests. */
export const prefix = "of-the-chart";

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Lists in which the order means nothing, sorted by name: kustomize's patches come first, the chart's conditions last. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    const all = value.map(sorted);
    const key = (one: unknown) => (isMap(one) ? String(one.name ?? one.topologyKey ?? JSON.stringify(one)) : "");
    return all.every((one) => isMap(one)) ? all.sort((a, b) => key(a).localeCompare(key(b))) : all;
  }
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([key, one]) => [key, sorted(one)]),
  );
}

/**
 * Objects by kind and name, as both sides write them: without the prefix and the labels of a Helm release, without hashes in names
 * of ConfigMaps, with the namespace in place of `$(POD_NAMESPACE)`.
 */
export function comparable(objects: Resource[], namespace: string): Record<string, unknown> {
  const maps = of(objects, "ConfigMap").map(({ metadata }) => metadata.name);
  let text = JSON.stringify(objects).replaceAll(`${prefix}-`, "").replaceAll("$(POD_NAMESPACE)", namespace);
  for (const name of maps) text = text.replaceAll(name, name.replace(/-[a-z0-9]{10}$/, ""));
  const found = JSON.parse(text, (key, value) => {
    if (["labels", "matchLabels", "selector"].includes(key)) {
      for (const label of [
        "app.kubernetes.io/instance",
        "app.kubernetes.io/managed-by",
        "app.kubernetes.io/version",
        "helm.sh/chart",
      ])
        delete value[label];
    }
    if (key === "matchLabels" && Object.keys(value).length === 0) return undefined;
    // Where kustomize keeps an image: previous-release/copy.
    if (key === "annotations") for (const own of ["checksum/settings", "image"]) delete value[own];
    if (key === "annotations" && Object.keys(value).length === 0) return undefined;
    if (key === "env" && Array.isArray(value)) return value.filter(({ name }) => name !== "POD_NAMESPACE");
    if (key === "imagePullPolicy" && value === "IfNotPresent") return undefined;
    return value;
  }) as Resource[];
  // Helm's objects all have a name label; of kustomize's, only pods and their controllers.
  for (const { kind, metadata } of found) {
    if (!/Deployment|StatefulSet/.test(kind)) delete metadata.labels?.["app.kubernetes.io/name"];
    if (metadata.labels?.["app.kubernetes.io/part-of"] === undefined)
      metadata.labels = { ...metadata.labels, "app.kubernetes.io/part-of": "culvert" };
  }
  const compared = found.filter(({ kind }) => kind !== "Namespace");
  return Object.fromEntries(compared.map((one) => [`${one.kind} ${one.metadata.name}`, sorted(one)]));
}
