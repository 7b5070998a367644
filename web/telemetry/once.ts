/**
 * Returns what all copies of a module share, made by the first one: on the server, instrumentation and routes are separate bundles with a copy of
 * each module.
 */
export function shared<Value>(name: string, make: () => Value): Value {
  const key = Symbol.for(`culvert.${name}`);
  const all = globalThis as { [key]?: Value };
  all[key] ??= make();
  return all[key];
}

/** Whether this is the first call with this name in this process. */
export function isFirstCall(name: string): boolean {
  let isFirst = false;
  shared(name, () => {
    isFirst = true;
    return isFirst;
  });
  return isFirst;
}
