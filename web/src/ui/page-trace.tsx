"use client";

import { getClient, getCurrentScope } from "@sentry/nextjs";
import { useEffect, useState } from "react";
import { Hop } from "./hops";

type BrowserTrace = { rendered: string | undefined; traceId?: string; parentSpanId?: string | undefined };

/** Takes the trace id of the server's render; returns the trace of the browser's SDK when this render was shown, undefined on the server. */
export function useBrowserTrace(rendered: string | undefined): BrowserTrace | undefined {
  const [trace, setTrace] = useState<BrowserTrace>();
  useEffect(() => {
    // Next keeps a page, and shows its old render again in the trace of a later navigation.
    setTrace((last) => (last?.rendered === rendered ? last : { rendered, ...(getClient() && propagated()) }));
  }, [rendered]);
  return trace;
}

/** The SDK keeps it after the span of the page load or navigation has ended. */
function propagated() {
  const { traceId, parentSpanId } = getCurrentScope().getPropagationContext();
  return { traceId, parentSpanId };
}

/** Takes the trace id of the server's render and shows the browser's trace. */
export function PageTrace({ rendered }: { rendered: string | undefined }) {
  const { traceId, parentSpanId } = useBrowserTrace(rendered) ?? {};
  return (
    <Hop
      name="In the browser"
      hint={
        parentSpanId
          ? "The page load of the browser's SDK, which continued the trace of the document."
          : "The browser's SDK began this trace: for a navigation, or a document without a trace."
      }
      trace={traceId}
      facts={[["parent span", parentSpanId ?? "none"]]}
    >
      None: telemetry or JavaScript is off.
    </Hop>
  );
}
