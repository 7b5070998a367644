import { isZero } from "./sentry-trace.ts";

export interface TraceParent {
  version: string;
  traceId: string;
  spanId: string;
  sampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Parses a `traceparent` value.
 *
 * Returns undefined if it is invalid: version ff, an all-zero id, upper case, or text after the flags in version 00.
 * Later versions may have more fields. Rule: https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function parseTraceParent(value: string | undefined): TraceParent | undefined {
  const match = TRACEPARENT.exec(value ?? "");
  const [, version = "", traceId = "", spanId = "", flags = "", rest] = match ?? [];
  if (!match || version === "ff" || isZero(traceId) || isZero(spanId)) return undefined;
  if (version === "00" && rest !== undefined) return undefined;
  return { version, traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Writes a version 00 `traceparent`; a deferred decision becomes not sampled, because W3C has no third state. */
export function formatTraceParent(trace: { traceId: string; spanId: string; sampled?: boolean }): string {
  return `00-${trace.traceId}-${trace.spanId}-${trace.sampled ? "01" : "00"}`;
}
