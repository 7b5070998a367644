import { getActiveSpan, getRootSpan, spanToJSON } from "@sentry/nextjs";

export type ServerSpan = { name: string | undefined; parentSpanId: string | undefined; isRecorded: boolean };

/** Returns the span of this request on the server, or undefined if telemetry is off. */
export function serverSpan(): ServerSpan | undefined {
  const active = getActiveSpan();
  if (!active) return undefined;
  const root = getRootSpan(active);
  const { description, parent_span_id } = spanToJSON(root);
  return { name: description, parentSpanId: parent_span_id, isRecorded: root.isRecording() };
}
