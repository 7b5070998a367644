/** The headers that carry a trace: Sentry's two and the W3C one. */
export const TRACE_HEADERS = ["sentry-trace", "baggage", "traceparent"] as const;

export type TraceHeaders = Record<(typeof TRACE_HEADERS)[number], string | null>;

/** Takes headers and returns those that carry a trace; a missing one is null. */
export const traceHeaders = (headers: Pick<Headers, "get">): TraceHeaders =>
  Object.fromEntries(TRACE_HEADERS.map((name) => [name, headers.get(name)])) as TraceHeaders;

/**
 * Takes trace headers and returns their common trace id, undefined without any, or "mixed" if they differ.
 * Formats: https://develop.sentry.dev/sdk/foundations/trace-propagation/ and https://www.w3.org/TR/trace-context/
 */
export function traceId(headers: TraceHeaders): string | "mixed" | undefined {
  const ids = [
    /^([\da-f]{32})-/i.exec(headers["sentry-trace"] ?? "")?.[1],
    /^[\da-f]{2}-([\da-f]{32})-/i.exec(headers.traceparent ?? "")?.[1],
    /(?:^|,)\s*sentry-trace_id=([\da-f]{32})/i.exec(headers.baggage ?? "")?.[1],
  ].filter((id) => id !== undefined);
  return new Set(ids).size > 1 ? "mixed" : ids[0];
}

export type PastedTrace = { traceId: string; spanId: string; sampled: boolean | undefined };

/** Takes a pasted `sentry-trace` or `traceparent`, with or without its name, and returns it parsed; undefined if it is neither. */
export function parseTraceHeader(text: string): PastedTrace | undefined {
  const value = text.trim().replace(/^[\w-]+:\s*/, "");
  const parts =
    /^00-(?<trace>[\da-f]{32})-(?<span>[\da-f]{16})-(?<flags>[\da-f]{2})$/.exec(value)?.groups ??
    /^(?<trace>[\da-f]{32})-(?<span>[\da-f]{16})(?:-(?<flags>[01]))?$/.exec(value)?.groups;
  const { trace = "", span = "", flags } = parts ?? {};
  if (/^0*$/.test(trace) || /^0*$/.test(span)) return undefined;
  return {
    traceId: trace,
    spanId: span,
    sampled: flags === undefined ? undefined : Number.parseInt(flags, 16) % 2 === 1,
  };
}

export type TraceStatus = "one trace" | "broken trace" | "no trace";

/**
 * Takes the trace ids of this render, of its outgoing call and of the incoming request (which may have none: then the trace
 * starts here), and returns whether they are one trace.
 */
export function traceStatus(render: string | undefined, outgoing: string | undefined, incoming?: string): TraceStatus {
  if (!render) return "no trace";
  return render === outgoing && (!incoming || incoming === render) ? "one trace" : "broken trace";
}
