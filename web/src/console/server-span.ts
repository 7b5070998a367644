import { getActiveSpan, getRootSpan, spanToJSON } from "@sentry/nextjs";
import type { Fact } from "../ui/facts";

/** Returns what is known of this request's span on the server, or undefined if telemetry is off. */
export function serverSpan(): Fact[] | undefined {
  const active = getActiveSpan();
  if (!active) return undefined;
  const root = getRootSpan(active);
  const { description, span_id, parent_span_id } = spanToJSON(root);
  const name = `${description || "not named yet"} (${root.isRecording() ? "recorded" : "not recorded"})`;
  return [
    ["span", name],
    ["span id", span_id],
    ["parent span", parent_span_id ?? "none"],
  ];
}
