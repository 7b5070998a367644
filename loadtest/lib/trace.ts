import { parseBaggage } from "./baggage.ts";
import { metas } from "./html.ts";

export interface Trace {
  traceId: string;
  spanId: string;
  /** Undefined if the sender defers the decision to the receiver. */
  sampled?: boolean;
}

/** Two formats of the same: https://develop.sentry.dev/sdk/foundations/trace-propagation/#header-sentry-trace and W3C's traceparent. */
const SENTRY_TRACE = /^(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})(?:-([01]))?$/;
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])$/;

/** Parses a `sentry-trace` header; returns undefined if it is invalid or contains an all-zero id. */
export function parseTrace(value = "", format = SENTRY_TRACE): Trace | undefined {
  const [, traceId = "", spanId = "", flag] = format.exec(value) ?? [];
  if (traceId === "") return undefined;
  return flag === undefined ? { traceId, spanId } : { traceId, spanId, sampled: Number.parseInt(flag, 16) % 2 === 1 };
}

export const parseTraceParent = (value?: string): Trace | undefined => parseTrace(value, TRACEPARENT);

export const formatSentryTrace = ({ traceId, spanId, sampled }: Trace): string =>
  `${traceId}-${spanId}-${sampled ? "1" : "0"}`;

export const formatTraceParent = ({ traceId, spanId, sampled }: Trace): string =>
  `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;

export interface PageTrace {
  trace?: Trace;
  baggage?: string;
  /** The first problem with the two tags, in one line; empty if they are valid. */
  problem: string;
}

/**
 * The trace that a page passes to the browser's SDK. Valid means exactly one `sentry-trace` and one `baggage` meta, both well-formed, with
 * the same trace id and sampling decision.
 */
export function pageTrace(html: string): PageTrace {
  const traces = metas(html, "sentry-trace");
  const baggages = metas(html, "baggage");
  const trace = parseTrace(traces[0]);
  return { trace, baggage: baggages[0], problem: problem(traces, baggages, trace) };
}

function problem(traces: string[], baggages: string[], trace: Trace | undefined): string {
  if (traces.length !== 1) return `${traces.length} sentry-trace metas`;
  if (!trace) return `sentry-trace meta "${traces[0]}" is not valid`;
  if (baggages.length !== 1) return `${baggages.length} baggage metas`;
  const context = parseBaggage(baggages[0]);
  if (!context) return `baggage meta "${baggages[0]}" is not valid`;
  const { "sentry-trace_id": traceId, "sentry-sampled": sampled } = context;
  if (traceId !== trace.traceId) return `baggage is of trace ${traceId}, sentry-trace of ${trace.traceId}`;
  if (sampled !== undefined && trace.sampled !== undefined && sampled !== String(trace.sampled))
    return `baggage says sampled ${sampled}, sentry-trace ${trace.sampled}`;
  return "";
}
