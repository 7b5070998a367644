/**
 * Takes the page's `performance`. A page from the browser's own cache has the trace of an earlier visit in its headers. The SDK prefers `meta` tags, so
 * it begins a new trace if one of them has no valid trace. To call before `Sentry.init`.
 */
export function skipCachedTrace(page: Pick<Performance, "getEntriesByType">): void {
  const [navigation] = page.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  const isCached = navigation?.transferSize === 0;
  if (!isCached || !navigation.serverTiming?.some(({ name }) => name === "sentry-trace")) return;
  const meta = document.createElement("meta");
  Object.assign(meta, { name: "sentry-trace", content: "cached" });
  document.head.prepend(meta);
}
