import { getActiveSpan, getRootSpan } from "@sentry/nextjs";
import { type SpanFields, spanFields } from "./span-fields";

export type ServerSpan = Omit<SpanFields, "attributes"> & { recorded: boolean };

/** Returns the span of this request on the server, or undefined if telemetry is off. */
export function serverSpan(): ServerSpan | undefined {
  const active = getActiveSpan();
  if (!active) return undefined;
  const root = getRootSpan(active);
  const { name, spanId, parentSpanId } = spanFields(root);
  return { name, spanId, parentSpanId, recorded: root.isRecording() };
}
