import { pick, randomHex } from "../random.ts";
import { formatBaggage } from "./baggage.ts";
import { type SamplingContext, samplingMembers } from "./sampling-context.ts";
import { formatSentryTrace } from "./sentry-trace.ts";
import { formatTraceParent } from "./traceparent.ts";

/**
 * Every trace id that this suite sends begins like this, so that one turning up at a visitor who sent none is proof of a
 * leak, whichever virtual user or runner sent it. A random id begins so once in 2^48.
 */
export const SENT_MARK = "10ad7e5710ad";

export interface SentContext {
  traceId: string;
  spanId: string;
  sampled: boolean;
  sampling: SamplingContext;
  vendor: { key: string; value: string };
  headers: Record<string, string>;
}

/**
 * What an instrumented caller sends along: a trace, its sampling decision and a third party's baggage member.
 *
 * Takes the DSN's public key, which Sentry's context names. A sampled trace has a random number below its rate, another
 * one has not: a receiver may check that.
 */
export function newContext(publicKey: string, sampled: boolean = pick([true, false])): SentContext {
  const traceId = SENT_MARK + randomHex(10);
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
