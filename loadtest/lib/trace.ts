import { parseBaggage } from "./baggage.ts";
import { metas, serverTimings } from "./html.ts";
import type { Response } from "./request.ts";

export interface Trace {
  traceId: string;
  spanId: string;
  /** Undefined if the sender defers the decision to the receiver. */
  sampled?: boolean;
}

/** https://develop.sentry.dev/sdk/foundations/trace-propagation/#header-sentry-trace */
const SENTRY_TRACE = /^(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})(?:-([01]))?$/;
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])$/;

/** Parses a trace header; returns undefined if it is invalid. */
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

/** A page that a shared cache may store. */
export const isShareable = ({ headers }: Pick<Response, "headers">): boolean =>
  /\bpublic\b|s-maxage=[1-9]/i.test(headers["cache-control"] ?? "");

export interface PageTrace {
  trace?: Trace;
  baggage?: string;
  /** In Server-Timing alone. */
  isInHeader: boolean;
  /** Empty if the trace is valid. */
  problem: string;
}

/**
 * The trace that a page passes to the browser's SDK: in its metas, else in Server-Timing. There must be one `sentry-trace` and one `baggage`
 * that agree. @culvert/nextjs may leave both out of a page that a shared cache may store.
 */
export function pageTrace(on: Pick<Response, "headers" | "body">): PageTrace {
  const [metaTraces = [], metaBaggages = []] = ["sentry-trace", "baggage"].map((name) => metas(on.body, name));
  const [timedTraces = [], timedBaggages = []] = ["sentry-trace", "baggage"].map((name) => serverTimings(on, name));
  const isInHeader = metaTraces.length + metaBaggages.length === 0;
  const [traces, baggages] = isInHeader ? [timedTraces, timedBaggages] : [metaTraces, metaBaggages];
  const [trace, inHeader] = [parseTrace(traces[0]), parseTrace(timedTraces[0])];
  const isLeftOut = isShareable(on) && serverTimings(on, "culvert").length > 0;
  let found = problem(traces, baggages, trace, isInHeader ? "metas or entries in Server-Timing" : "metas");
  if (traces.length + baggages.length === 0 && isLeftOut) found = "";
  if (trace && inHeader && trace.traceId !== inHeader.traceId)
    found ||= `the meta is of trace ${trace.traceId}, Server-Timing of ${inHeader.traceId}`;
  return { trace, baggage: baggages[0], isInHeader, problem: found };
}

function problem(traces: string[], baggages: string[], trace: Trace | undefined, places: string): string {
  if (traces.length !== 1) return `${traces.length} sentry-trace ${places}`;
  if (!trace) return `sentry-trace "${traces[0]}" is not valid`;
  if (baggages.length !== 1) return `${baggages.length} baggage ${places}`;
  const context = parseBaggage(baggages[0]);
  if (!context) return `baggage "${baggages[0]}" is not valid`;
  const { "sentry-trace_id": traceId, "sentry-sampled": sampled } = context;
  if (traceId !== trace.traceId) return `baggage is of trace ${traceId}, sentry-trace of ${trace.traceId}`;
  if (sampled !== undefined && trace.sampled !== undefined && sampled !== String(trace.sampled))
    return `baggage says sampled ${sampled}, sentry-trace ${trace.sampled}`;
  return "";
}
