"use client";

import type { TraceStatus } from "../console/trace-headers";
import { useBrowserTrace } from "./browser-trace";

type Props = { server: TraceStatus; rendered: string | undefined; problem: string | undefined };

/**
 * Takes the status of the trace on the server, the trace id of the render, and the upstream's problem if it has one. Renders a message for them and
 * for what the browser's SDK has made of the page.
 */
export function TraceStatusBadge({ server, rendered, problem }: Props) {
  const browser = useBrowserTrace(rendered);
  const [message, state] = describe(server, problem, browser && browser.traceId === rendered);
  return (
    <p className="state" data-state={state} role="status" aria-label="Trace status">
      {message}
    </p>
  );
}

function describe(server: TraceStatus, problem: string | undefined, continues: boolean | undefined): string[] {
  if (server === "no trace") return ["No trace: telemetry is off, because SENTRY_DSN is not set."];
  if (continues === false)
    return ["Broken trace: the browser's SDK is in another trace than the server's render.", "bad"];
  if (server === "one trace" && continues)
    return ["One trace: browser, incoming, rendered and outgoing headers have the same trace id.", "good"];
  if (server === "one trace") return ["The server has one trace. The browser's is not known."];
  if (problem) return [`Unknown: the upstream returns no headers. ${problem}.`];
  return ["Broken trace: the incoming, rendered and outgoing headers do not have the same trace id.", "bad"];
}
