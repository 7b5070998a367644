/**
 * Takes the page's `performance`. The SDK prefers `meta` tags to headers, so this writes them where its choice would be another visit's trace: a page from
 * the browser's own cache has old headers, and gets no valid trace; an ISR page has the tags of the request that rendered it. To call before `Sentry.init`.
 */
export function skipStaleTrace(page: Pick<Performance, "getEntriesByType">): void {
  const [navigation] = page.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  const sent = (name: string) => navigation?.serverTiming?.find((metric) => metric.name === name)?.description ?? "";
  const trace = sent("sentry-trace");
  if (!trace) return;
  const written = document.querySelector<HTMLMetaElement>("meta[name=sentry-trace]")?.content;
  if (navigation?.transferSize === 0) write("sentry-trace", "cached");
  else if (written && !written.startsWith(trace.slice(0, 32)))
    for (const name of ["sentry-trace", "baggage"]) write(name, sent(name));
}

/** Writes a `meta` tag before all others. */
function write(name: string, content: string): void {
  const meta = document.createElement("meta");
  document.head.prepend(Object.assign(meta, { name, content }));
}
