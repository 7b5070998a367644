/**
 * Whether this is the first call with this name in this process. On the server, instrumentation and routes are separate bundles with a copy of
 * each module.
 */
export function isFirstCall(name: string): boolean {
  const key = Symbol.for(`culvert.${name}`);
  const shared = globalThis as { [key]?: true };
  const isFirst = !shared[key];
  shared[key] = true;
  return isFirst;
}
