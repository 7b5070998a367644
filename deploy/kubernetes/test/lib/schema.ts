import type { Resource } from "./objects.ts";

/** The package with the types of an API group; Kubernetes' own groups have no dot, or end in k8s.io. */
const packages: Record<string, string> = {
  "cert-manager.io": "@kubernetes-models/cert-manager",
  "gateway.networking.k8s.io": "@kubernetes-models/gateway-api",
  "monitoring.coreos.com": "@kubernetes-models/prometheus-operator",
};

/** An object's problems by the schema of its kind and API version; unknown fields too, as with `kubectl --validate=strict`. */
export async function schemaProblems(object: Resource): Promise<string[]> {
  const [version = "", group = ""] = object.apiVersion.split("/").reverse();
  const models = await import(
    /* @vite-ignore */ [packages[group] ?? "kubernetes-models", group, version].filter(Boolean).join("/")
  );
  // The compiled validators read the fields of the schema and ignore others. So a field that was not read is unknown.
  const unread = new Set<string>();
  const watch = (value: unknown, path: string): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (!Array.isArray(value)) for (const key of Object.keys(value)) unread.add(`${path}/${key}`);
    const children = new Map<string | symbol, unknown>();
    return new Proxy(value, {
      get(target, key) {
        const at = `${path}/${String(key)}`;
        unread.delete(at);
        if (!children.has(key)) children.set(key, watch(Reflect.get(target, key), at));
        return children.get(key);
      },
    });
  };
  try {
    models[object.kind].prototype.validate.call(watch(object, ""));
  } catch (error) {
    return [(error as Error).message];
  }
  return [...unread].map((path) => `${path}: the schema has no such field`);
}
