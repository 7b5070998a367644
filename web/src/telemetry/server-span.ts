import { getActiveSpan, getRootSpan, spanToJSON } from "@sentry/nextjs";

export type ServerSpan = { name: string; spanId: string; parentSpanId: string | undefined; recorded: boolean };

/** Returns the span in which the server answers this request, or undefined when telemetry is off. */
export function serverSpan(): ServerSpan | undefined {
  const active = getActiveSpan();
  if (!active) return undefined;
  const root = getRootSpan(active);
  const { description = "", span_id: spanId, parent_span_id: parentSpanId } = spanToJSON(root);
  return { name: description, spanId, parentSpanId, recorded: root.isRecording() };
}
