import { metas } from "./html.ts";
import { parseBaggage } from "./trace/baggage.ts";
import { samplingContext } from "./trace/sampling-context.ts";
import { parseSentryTrace, type SentryTrace } from "./trace/sentry-trace.ts";

export interface PageTrace {
  trace?: SentryTrace;
  baggage?: string;
  /** The first problem with the two tags, in one line; empty if they are valid. */
  problem: string;
}

/**
 * Reads and validates the trace that a page passes to the browser's SDK.
 *
 * Valid means exactly one `sentry-trace` and one `baggage` meta, both well-formed, with the same trace id and sampling decision.
 */
export function pageTrace(html: string): PageTrace {
  const traces = metas(html, "sentry-trace");
  const baggages = metas(html, "baggage");
  const trace = parseSentryTrace(traces[0]);
  const baggage = baggages[0];
  return { trace, baggage, problem: problem(traces, baggages, trace) };
}

function problem(traces: string[], baggages: string[], trace: SentryTrace | undefined): string {
  if (traces.length !== 1) return `${traces.length} sentry-trace metas`;
  if (!trace) return `sentry-trace meta "${traces[0]}" is not valid`;
  if (baggages.length !== 1) return `${baggages.length} baggage metas`;
  const members = parseBaggage(baggages[0]);
  if (!members) return `baggage meta "${baggages[0]}" is not valid`;
  const context = samplingContext(members);
  if (context.trace_id !== trace.traceId)
    return `baggage is of trace ${context.trace_id}, sentry-trace of ${trace.traceId}`;
  if (context.sampled !== undefined && trace.sampled !== undefined && context.sampled !== String(trace.sampled))
    return `baggage says sampled ${context.sampled}, sentry-trace ${trace.sampled}`;
  return "";
}
