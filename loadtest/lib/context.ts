import { formatBaggage, samplingMembers } from "./baggage.ts";
import { pick, randomHex } from "./random.ts";
import { formatSentryTrace, formatTraceParent } from "./trace.ts";

/**
 * Every trace id that this suite sends starts with this prefix. A client that sent none and receives one of them has proof of
 * a leak, whichever virtual user or runner sent it. A random id has this prefix once in 2^48.
 */
export const SENT_TRACE_PREFIX = "10ad7e5710ad";
export const newTraceId = (): string => SENT_TRACE_PREFIX + randomHex(10);

/** A third party's member of baggage, with characters that need escaping. */
export const VENDOR = { key: "vendor", value: 'a=b, c;d "é"' };

export type SentContext = ReturnType<typeof newContext>;

/**
 * The headers of an instrumented caller: a trace, its sampling decision and a third party's baggage member.
 *
 * Takes the DSN's public key, which is part of Sentry's context. `sample_rand` is below the rate only for a sampled trace,
 * since a receiver may verify that.
 */
export function newContext(publicKey: string, sampled: boolean = pick([true, false])) {
  const trace = { traceId: newTraceId(), spanId: randomHex(8), sampled };
  const sampling = {
    trace_id: trace.traceId,
    public_key: publicKey,
    environment: "loadtest",
    release: "culvert-loadtest@1.0.0",
    sample_rate: "0.5",
    sample_rand: sampled ? "0.125431" : "0.875431",
    sampled: String(sampled),
    transaction: "GET /loadtest & more",
  };
  const headers = {
    "sentry-trace": formatSentryTrace(trace),
    baggage: formatBaggage({ ...samplingMembers(sampling), [VENDOR.key]: VENDOR.value }),
    traceparent: formatTraceParent(trace),
  };
  return { ...trace, sampling, headers };
}

/** The headers of callers that are not Sentry's SDK. Every SDK of Sentry must continue a trace without a decision. */
export function partialContexts() {
  const callers: [name: string, headers: (trace: { traceId: string; spanId: string }) => Record<string, string>][] = [
    ["traceparent only", (trace) => ({ traceparent: formatTraceParent({ ...trace, sampled: true }) })],
    [
      "traceparent and tracestate",
      (trace) => ({ traceparent: formatTraceParent({ ...trace, sampled: true }), tracestate: "vendor=a1,other=b2" }),
    ],
    ["no sampling decision", (trace) => ({ "sentry-trace": formatSentryTrace(trace) })],
  ];
  return callers.map(([name, headersOf]) => {
    const trace = { traceId: newTraceId(), spanId: randomHex(8) };
    const headers = headersOf(trace);
    return { name, ...trace, headers, mustContinue: "sentry-trace" in headers };
  });
}
