export interface SentryTrace {
  traceId: string;
  spanId: string;
  /** Undefined if the sender defers the decision to the receiver. */
  sampled?: boolean;
}

const SENTRY_TRACE = /^([0-9a-f]{32})-([0-9a-f]{16})(?:-([01]))?$/;

/**
 * Parses a `sentry-trace` value.
 *
 * Takes the header or meta value unchanged; returns undefined if it is invalid or contains an all-zero id.
 * Rule: https://develop.sentry.dev/sdk/foundations/trace-propagation/#header-sentry-trace
 */
export function parseSentryTrace(value: string | undefined): SentryTrace | undefined {
  const match = SENTRY_TRACE.exec(value ?? "");
  const [, traceId = "", spanId = "", flag] = match ?? [];
  if (!match || isZero(traceId) || isZero(spanId)) return undefined;
  return flag === undefined ? { traceId, spanId } : { traceId, spanId, sampled: flag === "1" };
}

/** Writes a `sentry-trace` value, without the flag if the decision is deferred. */
export function formatSentryTrace({ traceId, spanId, sampled }: SentryTrace): string {
  return sampled === undefined ? `${traceId}-${spanId}` : `${traceId}-${spanId}-${sampled ? 1 : 0}`;
}

export function isZero(hex: string): boolean {
  return /^0*$/.test(hex);
}
