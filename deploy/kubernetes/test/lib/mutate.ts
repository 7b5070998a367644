import type { Resource } from "./objects.ts";

/** A change of rendered objects. */
export type Change = (objects: Resource[]) => void;

/**
 * Sets the value at a path ("spec.ports.0.name") of the object "Kind/name"; without a value, deletes it.
 * Throws if the object or the path does not exist, because a change without effect would prove nothing.
 */
export const set =
  (object: string, path: string, value?: unknown): Change =>
  (objects) => {
    const keys = path.split(".").map((key) => key.replaceAll("~", "."));
    const last = keys.pop() ?? "";
    let parent: unknown = find(objects, object);
    for (const key of keys) parent = (parent as Record<string, unknown>)[key];
    if (typeof parent !== "object" || parent === null) throw new Error(`${object} has no ${path}`);
    if (value === undefined && !Reflect.has(parent, last)) throw new Error(`${object} has no ${path}`);
    if (value === undefined) Reflect.deleteProperty(parent, last);
    else Reflect.set(parent, last, value);
  };

/** The object "Kind/name". Throws if there is none. */
export function find(objects: Resource[], object: string): Resource {
  const found = objects.find(({ kind, metadata }) => `${kind}/${metadata.name}` === object);
  if (!found) throw new Error(`there is no ${object}`);
  return found;
}
