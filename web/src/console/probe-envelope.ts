/**
 * Takes a DSN and returns an envelope that tests whether an ingest accepts envelopes: a client report of no discarded events,
 * of which the ingest stores nothing.
 * https://develop.sentry.dev/sdk/telemetry/client-reports/
 */
export function probeEnvelope(dsn: string): string {
  const now = new Date();
  return [
    { dsn, sent_at: now.toISOString() },
    { type: "client_report" },
    { timestamp: now.getTime() / 1000, discarded_events: [] },
  ]
    .map((line) => JSON.stringify(line))
    .join("\n");
}
