const REQUEST_CONTEXT = Symbol.for("@next/request-context");
type RequestContext = { get(): { waitUntil(promise: PromiseLike<unknown>): void } };
const shared = globalThis as { [REQUEST_CONTEXT]?: RequestContext };

/**
 * Collects the work that Next does after a response: `after()`, `waitUntil`, a page revalidated in the background. Next passes it to the
 * platform, if there is one: https://nextjs.org/docs/app/api-reference/functions/after#platform-support. Returns a function that resolves when
 * all work has ended. If another platform is there already, that one is in charge.
 */
export function collectBackgroundWork(): () => Promise<void> {
  const pending = new Set<Promise<unknown>>();
  const waitUntil = (promise: PromiseLike<unknown>) => {
    const work: Promise<unknown> = Promise.resolve(promise)
      .catch(console.error)
      .finally(() => pending.delete(work));
    pending.add(work);
  };
  shared[REQUEST_CONTEXT] ??= { get: () => ({ waitUntil }) };
  return async () => {
    while (pending.size > 0) await Promise.all(pending);
  };
}
