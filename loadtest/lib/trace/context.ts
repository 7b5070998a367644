import { pick, randomHex } from "../random.ts";
import { formatBaggage } from "./baggage.ts";
import { type SamplingContext, samplingMembers } from "./sampling-context.ts";
import { formatSentryTrace } from "./sentry-trace.ts";
import { formatTraceParent } from "./traceparent.ts";

/**
 * Every trace id that this suite sends starts with this prefix. A client that sent none and receives one of them has proof of
 * a leak, whichever virtual user or runner sent it. A random id has this prefix once in 2^48.
 */
export const SENT_TRACE_PREFIX = "10ad7e5710ad";

export interface SentContext {
  traceId: string;
  spanId: string;
  sampled: boolean;
  sampling: SamplingContext;
  vendor: { key: string; value: string };
  headers: Record<string, string>;
}

/**
 * The headers of an instrumented caller: a trace, its sampling decision and a third party's baggage member.
 *
 * Takes the DSN's public key, which is part of Sentry's context. `sample_rand` is below the rate only for a sampled trace,
 * since a receiver may verify that.
 */
export function newContext(publicKey: string, sampled: boolean = pick([true, false])): SentContext {
  const traceId = SENT_TRACE_PREFIX + randomHex(10);
  const spanId = randomHex(8);
  const sampling: SamplingContext = {
    trace_id: traceId,
    public_key: publicKey,
    environment: "loadtest",
    release: "culvert-loadtest@1.0.0",
    sample_rate: "0.5",
    sample_rand: sampled ? "0.125431" : "0.875431",
    sampled: String(sampled),
    transaction: "GET /loadtest & more",
  };
  const vendor = { key: "vendor", value: 'a=b, c;d "é"' };
  const headers = {
    "sentry-trace": formatSentryTrace({ traceId, spanId, sampled }),
    baggage: formatBaggage([...samplingMembers(sampling), vendor]),
    traceparent: formatTraceParent({ traceId, spanId, sampled }),
  };
  return { traceId, spanId, sampled, sampling, vendor, headers };
}

export interface PartialContext {
  name: string;
  headers: Record<string, string>;
  traceId: string;
  spanId: string;
  /** The headers are enough for every SDK of Sentry to continue the trace. */
  mustContinue?: true;
}

/** The headers of callers that are not Sentry's SDK. */
export function partialContexts(): PartialContext[] {
  const caller = (
    name: string,
    headers: (trace: { traceId: string; spanId: string }) => Record<string, string>,
    mustContinue?: true,
  ) => {
    const trace = { traceId: SENT_TRACE_PREFIX + randomHex(10), spanId: randomHex(8) };
    return { name, headers: headers(trace), ...trace, mustContinue };
  };
  const w3c = (trace: { traceId: string; spanId: string }) => formatTraceParent({ ...trace, sampled: true });
  return [
    caller("traceparent only", (trace) => ({ traceparent: w3c(trace) })),
    caller("traceparent and tracestate", (trace) => ({ traceparent: w3c(trace), tracestate: "vendor=a1,other=b2" })),
    caller("no sampling decision", (trace) => ({ "sentry-trace": formatSentryTrace(trace) }), true),
  ];
}
