import { formatBaggage } from "./baggage.ts";
import { randomHex } from "./random.ts";
import { formatSentryTrace, formatTraceParent } from "./trace.ts";

/** Of every trace id that this suite sends: a client that sent none and receives one has found a leak. */
export const SENT_TRACE_PREFIX = "10ad7e5710ad";
export const newTraceId = (): string => SENT_TRACE_PREFIX + randomHex(10);

/** A third party's member of baggage. */
export const VENDOR = { key: "vendor", value: 'a=b, c;d "é"' };

/** The headers of an instrumented caller. */
export function newContext(publicKey: string, sampled: boolean) {
  const trace = { traceId: newTraceId(), spanId: randomHex(8), sampled };
  const sampling = {
    "sentry-trace_id": trace.traceId,
    "sentry-public_key": publicKey,
    "sentry-environment": "loadtest",
    "sentry-release": "culvert-loadtest@1.0.0",
    "sentry-sample_rate": "0.5",
    // Below the rate only for a sampled trace, since a receiver may verify that.
    "sentry-sample_rand": sampled ? "0.125431" : "0.875431",
    "sentry-sampled": String(sampled),
    "sentry-transaction": "GET /loadtest & more",
  };
  const headers = {
    "sentry-trace": formatSentryTrace(trace),
    baggage: formatBaggage({ ...sampling, [VENDOR.key]: VENDOR.value }),
    traceparent: formatTraceParent(trace),
  };
  return { ...trace, sampling, headers };
}
