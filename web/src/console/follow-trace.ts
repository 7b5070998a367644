import { continueTrace, startSpan } from "@sentry/nextjs";
import type { PastedTrace } from "./trace-headers";
import { callUpstream, type UpstreamResult } from "./upstream";

/** Takes a trace that began elsewhere and the upstream's address; calls the upstream in that trace. Never throws. */
export function followTrace({ traceId, spanId, sampled }: PastedTrace, address: URL): Promise<UpstreamResult> {
  const flag = sampled === undefined ? "" : `-${Number(sampled)}`;
  return continueTrace({ sentryTrace: `${traceId}-${spanId}${flag}`, baggage: undefined }, () =>
    startSpan({ name: "pasted trace", op: "console.follow" }, () => callUpstream(address)),
  );
}
