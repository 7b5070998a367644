"use client";

import { useEffect, useState } from "react";
import { type TraceHeaders, traceHeaders, traceId } from "../console/trace-headers";
import { Hop } from "./hops";

/** Takes what the server rendered and shows what the page's meta tags say now: those of the document, not of a navigation. */
export function PageTrace({ rendered }: { rendered: TraceHeaders }) {
  const [meta, setMeta] = useState(rendered);
  useEffect(() => {
    const content = (name: string) => document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? null;
    setMeta(traceHeaders({ get: content }));
  }, []);
  const same = traceId(meta) === traceId(rendered);
  const hint = same
    ? "The meta tags from which the browser goes on."
    : "The meta tags of the document you loaded first. You came here by a navigation in the browser, which began its own trace.";
  return (
    <Hop name="In the page" hint={hint} headers={meta}>
      None: telemetry is off.
    </Hop>
  );
}
