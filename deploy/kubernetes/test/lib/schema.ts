import { type Resource, workloads } from "./objects.ts";
import { testRunProblems } from "./test-run.ts";

/** The package with the types of an API group; Kubernetes' own groups have no dot, or end in k8s.io. */
const packages: Record<string, string> = {
  "cert-manager.io": "@kubernetes-models/cert-manager",
  "gateway.networking.k8s.io": "@kubernetes-models/gateway-api",
  "monitoring.coreos.com": "@kubernetes-models/prometheus-operator",
};

/** k6-operator publishes no schema as a package: its fields are in test-run.ts; its pods are validated as pods. */
const loadtests = "k6.io";

interface Model {
  prototype: { validate(): void };
}

/**
 * An object's problems by the schema of its kind and API version: values of a wrong type, missing fields, and (as with
 * `kubectl --validate=strict`) unknown fields.
 */
export async function schemaProblems(object: Resource): Promise<string[]> {
  const [group = "", version] = object.apiVersion.includes("/")
    ? object.apiVersion.split("/")
    : ["", object.apiVersion];
  if (group === loadtests) return [...testRunProblems(object), ...(await madePods(object))];
  const models = await import(
    /* @vite-ignore */ [packages[group] ?? "kubernetes-models", group, version].filter(Boolean).join("/")
  );
  const model: Model | undefined = models[object.kind];
  if (!model) return [`${object.apiVersion} has no ${object.kind}`];

  const { watched, unread } = watch(object);
  try {
    model.prototype.validate.call(watched);
  } catch (error) {
    return [(error as Error).message];
  }
  return unread().map((path) => `${path}: the schema has no such field`);
}

async function madePods(object: Resource): Promise<string[]> {
  const pods = workloads([object]).map(({ name, pod }) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: pod,
  }));
  return (await Promise.all(pods.map(schemaProblems))).flat();
}

/**
 * The compiled validators read the fields of the schema and ignore others. So a field that was not read is unknown.
 */
function watch(object: object): { watched: object; unread: () => string[] } {
  const seen: { path: string; keys: string[]; read: Set<string> }[] = [];
  const wrap = (value: unknown, path: string): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const read = new Set<string>();
    seen.push({ path, keys: Array.isArray(value) ? [] : Object.keys(value), read });
    const children = new Map<string | symbol, unknown>();
    return new Proxy(value, {
      get(target, key) {
        if (typeof key === "string") read.add(key);
        if (!children.has(key)) children.set(key, wrap(Reflect.get(target, key), `${path}/${String(key)}`));
        return children.get(key);
      },
    });
  };
  const watched = wrap(object, "") as object;
  const unread = () =>
    seen.flatMap(({ path, keys, read }) => keys.filter((key) => !read.has(key)).map((key) => `${path}/${key}`));
  return { watched, unread };
}
