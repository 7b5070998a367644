"use client";

import type { TraceStatus } from "../console/trace-headers";
import { useBrowserTrace } from "./page-trace";

type Props = { server: TraceStatus; rendered: string | undefined; problem: string | undefined };

/** Takes the status on the server, the trace id of the render, and the upstream's problem; renders what they and the browser's trace say together. */
export function TraceStatusBadge({ server, rendered, problem }: Props) {
  const { traceId } = useBrowserTrace(rendered) ?? {};
  const [message, state] = describe(server, problem, traceId && traceId === rendered);
  return (
    <p className="state" data-state={state} role="status" aria-label="Trace status">
      {message}
    </p>
  );
}

function describe(server: TraceStatus, problem: string | undefined, isContinued: boolean | string | undefined) {
  if (server === "no trace") return ["No trace: telemetry is off, because SENTRY_DSN is not set."];
  if (isContinued === false) return ["Broken trace: the browser's SDK is in another trace than the server.", "bad"];
  if (server === "broken trace" && problem) return [`Unknown: the upstream returns no headers. ${problem}.`];
  if (server === "broken trace")
    return ["Broken trace on the server: incoming, rendered and outgoing headers have different trace ids.", "bad"];
  if (!isContinued) return ["One trace on the server. The browser's is not known."];
  return ["One trace: browser, incoming, rendered and outgoing headers have the same trace id.", "good"];
}
