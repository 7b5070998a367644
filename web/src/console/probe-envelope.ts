/**
 * Takes a DSN and returns an envelope that asks an ingest whether it would take reports: the SDK's own report of how many
 * events it discarded, which are none. Nothing is stored of it.
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
