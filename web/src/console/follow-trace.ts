import { continueTrace, startSpan } from "@sentry/nextjs";
import type { PastedTrace } from "./trace-headers";
import { askUpstream, type UpstreamAnswer } from "./upstream";

/** Takes a trace that began elsewhere and the upstream's address; calls the upstream as a part of that trace. Never throws. */
export function follow({ traceId, spanId, sampled }: PastedTrace, address: URL): Promise<UpstreamAnswer> {
  const flag = sampled === undefined ? "" : `-${Number(sampled)}`;
  return continueTrace({ sentryTrace: `${traceId}-${spanId}${flag}`, baggage: undefined }, () =>
    startSpan({ name: "pasted trace", op: "console.follow" }, () => askUpstream(address)),
  );
}
