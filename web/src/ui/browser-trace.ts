"use client";

import { getClient, getCurrentScope } from "@sentry/nextjs";
import { useEffect, useState } from "react";

/** What the browser's SDK is in: the page load's trace, or that of a later navigation. Without a parent, the browser began it. */
export type BrowserTrace = { traceId: string; parentSpanId: string | undefined };

/**
 * Takes the trace id of the server's render and returns the trace that the browser's SDK was in when this render was shown; undefined on the server,
 * and while the SDK is off.
 */
export function useBrowserTrace(rendered: string | undefined): BrowserTrace | undefined {
  const [shown, setShown] = useState<{ rendered: string | undefined; trace: BrowserTrace | undefined }>();
  // Next keeps pages and shows them again in the trace of a later navigation, which is not that of their render.
  useEffect(() => {
    setShown((last) => (last?.rendered === rendered && last?.trace ? last : { rendered, trace: current() }));
  }, [rendered]);
  return shown?.rendered === rendered ? shown?.trace : undefined;
}

function current(): BrowserTrace | undefined {
  if (!getClient()) return undefined;
  const { traceId, parentSpanId } = getCurrentScope().getPropagationContext();
  return { traceId, parentSpanId };
}
