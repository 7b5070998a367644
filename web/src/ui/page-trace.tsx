"use client";

import { traceHeaders } from "../console/trace-headers";
import { type BrowserTrace, useBrowserTrace } from "./browser-trace";
import { Hop } from "./hops";

/** Takes the trace id of the server's render and shows the trace of the browser's SDK, with the headers by which the document passed it on. */
export function PageTrace({ rendered }: { rendered: string | undefined }) {
  const trace = useBrowserTrace(rendered);
  return (
    <Hop
      name="In the browser"
      hint={
        trace?.parentSpanId
          ? "The page load of the browser's SDK, and the document's headers from which it continued the trace."
          : "The trace that the browser's SDK began itself: for a navigation, or for a document without these headers."
      }
      trace={trace?.traceId}
      facts={[["parent span", trace?.parentSpanId ?? "none"]]}
      headers={trace && documentHeaders(trace)}
    >
      None: telemetry or JavaScript is off.
    </Hop>
  );
}

/** The SDK prefers the document's meta tags to its Server-Timing header. A trace without a parent has come from neither. */
function documentHeaders({ parentSpanId }: BrowserTrace) {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  const meta = (name: string) => document.querySelector(`meta[name="${name}"]`)?.getAttribute("content");
  const timing = (name: string) => navigation?.serverTiming.find((entry) => entry.name === name)?.description;
  return traceHeaders({ get: (name) => (parentSpanId && (meta(name) ?? timing(name))) || null });
}
