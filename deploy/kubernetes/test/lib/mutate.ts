import type { Resource } from "./objects.ts";

/** One change to rendered objects. */
export type Change = (objects: Resource[]) => void;

/**
 * Sets the value at a path ("spec.ports.0.name") of the object "Kind/name"; without a value, takes it away.
 * Throws when the object or the way to the value is not there: a change that changes nothing would prove nothing.
 */
export const set =
  (object: string, path: string, value?: unknown): Change =>
  (objects) => {
    const keys = path.split(".").map((key) => key.replaceAll("~", "."));
    const last = keys.pop() ?? "";
    let place: unknown = find(objects, object);
    for (const key of keys) place = (place as Record<string, unknown>)[key];
    if (typeof place !== "object" || place === null) throw new Error(`${object} has no ${path}`);
    if (value === undefined && !Reflect.has(place, last)) throw new Error(`${object} has no ${path}`);
    if (value === undefined) Reflect.deleteProperty(place, last);
    else Reflect.set(place, last, value);
  };

/** The object "Kind/name". Throws when there is none. */
export function find(objects: Resource[], object: string): Resource {
  const found = objects.find(({ kind, metadata }) => `${kind}/${metadata.name}` === object);
  if (!found) throw new Error(`there is no ${object}`);
  return found;
}
