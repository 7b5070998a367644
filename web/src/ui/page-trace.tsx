"use client";

import { useEffect, useState } from "react";
import { type TraceHeaders, traceHeaders, traceId } from "../console/trace-headers";
import { Hop } from "./hops";

/** Takes the trace headers that the server rendered and shows those in the document's meta tags, which a navigation does not change. */
export function PageTrace({ rendered }: { rendered: TraceHeaders }) {
  const [meta, setMeta] = useState(rendered);
  useEffect(() => {
    const content = (name: string) => document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? null;
    setMeta(traceHeaders({ get: content }));
  }, []);
  const same = traceId(meta) === traceId(rendered);
  const hint = same
    ? "The meta tags from which the browser continues the trace."
    : "The meta tags of the document that was loaded first. You opened this page by a navigation in the browser, which started its own trace.";
  return (
    <Hop name="In the page" hint={hint} headers={meta}>
      None: telemetry is off.
    </Hop>
  );
}
