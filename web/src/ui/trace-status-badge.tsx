import type { TraceStatus } from "../console/trace-headers";
import styles from "./trace-status-badge.module.css";

const MESSAGES: Record<TraceStatus, string> = {
  "one trace": "One trace on the server: the incoming, rendered and outgoing headers have the same trace id.",
  "broken trace":
    "Broken trace on the server: the incoming, rendered and outgoing headers do not have the same trace id.",
  "no trace": "No trace: telemetry is off, because SENTRY_DSN is not set.",
};

/** Takes the status of a trace, and the upstream's problem if it has one, and renders a message for it. */
export function TraceStatusBadge({ status, problem }: { status: TraceStatus; problem: string | undefined }) {
  const unknown = problem && status === "broken trace";
  return (
    <p className={styles.badge} data-status={unknown ? "unknown" : status} role="status" aria-label="Trace status">
      {unknown ? `Unknown: the upstream returns no headers. ${problem}.` : MESSAGES[status]}
    </p>
  );
}
