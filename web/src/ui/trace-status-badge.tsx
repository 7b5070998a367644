import type { TraceStatus } from "../console/trace-headers";

const MESSAGES: Record<TraceStatus, [message: string, state?: "good" | "bad"]> = {
  "one trace": ["One trace on the server: the incoming, rendered and outgoing headers have the same trace id.", "good"],
  "broken trace": [
    "Broken trace on the server: the incoming, rendered and outgoing headers do not have the same trace id.",
    "bad",
  ],
  "no trace": ["No trace: telemetry is off, because SENTRY_DSN is not set."],
};

/** Takes the status of a trace, and the upstream's problem if it has one, and renders a message for it. */
export function TraceStatusBadge({ status, problem }: { status: TraceStatus; problem: string | undefined }) {
  const unknown = problem && status === "broken trace";
  const [message, state] = unknown ? [`Unknown: the upstream returns no headers. ${problem}.`] : MESSAGES[status];
  return (
    <p className="state" data-state={state} role="status" aria-label="Trace status">
      {message}
    </p>
  );
}
