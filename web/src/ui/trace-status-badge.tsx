import type { Verdict } from "../console/trace-headers";
import styles from "./trace-status-badge.module.css";

const WORDS: Record<Verdict, string> = {
  "one trace": "One trace on the server: what it was sent, rendered and sent out names the same trace id.",
  "broken trace":
    "Broken trace on the server: what it was sent, rendered and sent out does not name the same trace id.",
  "no trace": "No trace: telemetry is off, because SENTRY_DSN is not set.",
};

/** Takes the verdict on a trace, and the upstream's problem if it has one, and says it. */
export function TraceStatusBadge({ verdict, problem }: { verdict: Verdict; problem: string | undefined }) {
  const unknown = problem && verdict === "broken trace";
  return (
    <p className={styles.badge} data-verdict={unknown ? "unknown" : verdict} role="status" aria-label="Verdict">
      {unknown ? `Can't tell: the upstream shows no headers. ${problem}.` : WORDS[verdict]}
    </p>
  );
}
