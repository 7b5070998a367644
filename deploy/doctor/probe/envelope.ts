/** Marks what the doctor sends, so that it can be filtered. */
export const PROBE_SDK = { name: "culvert.doctor", version: "1" };

/**
 * Takes a DSN and returns an envelope that asks an ingest whether it accepts envelopes: a client report of no discarded events,
 * which Sentry neither stores nor bills. https://develop.sentry.dev/sdk/telemetry/client-reports/
 */
export function probeEnvelope(dsn: string): string {
  const now = new Date();
  return [
    { dsn, sent_at: now.toISOString(), sdk: PROBE_SDK },
    { type: "client_report" },
    { timestamp: now.getTime() / 1000, discarded_events: [] },
  ]
    .map((line) => JSON.stringify(line))
    .join("\n");
}
