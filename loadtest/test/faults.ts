import type { JourneyName } from "../journeys/index.ts";
import type { CheckId } from "../lib/checks.ts";

/** How the stub misbehaves: each flag injects one fault. */
export interface Fault {
  /** An app without the example's console: not a fault, but the default pages do not exist. */
  noConsole?: true;
  dropBaggage?: true;
  dropSentryTrace?: true;
  cachedPage?: true;
  cachedNotFound?: true;
  mixedUpClients?: true;
  flipSampled?: true;
  changedBaggage?: true;
  sameSpan?: true;
  noindexMissing?: true;
  noindexEverywhere?: true;
  softNotFound?: true;
  openRelay?: true;
  getOnTunnel?: true;
  upstreamUntraced?: true;
  otherTraceparent?: true;
  echo?: true;
  continuesMalformed?: true;
  breaksOnInvalidTrace?: true;
  respondsWithTrace?: true;
  acceptsOneEnvelope?: true;
  ingestDown?: true;
  actionLost?: true;
  assetLost?: true;
  redirectAway?: true;
  delayMs?: number;
  tunnelBlocksPages?: true;
}

/** A check that must fail; `page duration` is the p95 limit of pages. */
export type Failure = CheckId | "page duration";

/** Every fault that the suite must detect: its flag, the checks that must fail, and in which journeys (default: all). */
export const FAULTS: Record<string, { fault: Fault; detectedBy: Failure[]; journeys?: JourneyName[] }> = {
  "proxy drops baggage": {
    fault: { dropBaggage: true },
    detectedBy: ["forwarded", "continued_baggage", "outgoing_baggage"],
  },
  "proxy drops sentry-trace": {
    fault: { dropSentryTrace: true },
    detectedBy: ["forwarded", "continued_trace", "outgoing_trace"],
  },
  "a page is cached with its trace": { fault: { cachedPage: true }, detectedBy: ["fresh_unique", "continued_trace"] },
  "the 404 page is cached with its trace": { fault: { cachedNotFound: true }, detectedBy: ["fresh_unique"] },
  "two concurrent clients are mixed up": { fault: { mixedUpClients: true }, detectedBy: ["fresh_unique"] },
  "sampling flag flipped": { fault: { flipSampled: true }, detectedBy: ["continued_sampled", "outgoing_trace"] },
  "sampling rate rewritten": { fault: { changedBaggage: true }, detectedBy: ["continued_baggage", "outgoing_baggage"] },
  "the caller's span id is reused": { fault: { sameSpan: true }, detectedBy: ["continued_span"] },
  "404 header removed": { fault: { noindexMissing: true }, detectedBy: ["not_found_noindex"] },
  "noindex on every response": { fault: { noindexEverywhere: true }, detectedBy: ["indexable"] },
  "soft 404": { fault: { softNotFound: true }, detectedBy: ["not_found_status"] },
  "tunnel forwards a foreign project": { fault: { openRelay: true }, detectedBy: ["tunnel_rejected"] },
  "tunnel accepts GET": { fault: { getOnTunnel: true }, detectedBy: ["tunnel_rejected"] },
  "upstream call without a trace": {
    fault: { upstreamUntraced: true },
    detectedBy: ["outgoing_trace", "outgoing_traceparent", "outgoing_baggage"],
  },
  "upstream call with a traceparent of another trace": {
    fault: { otherTraceparent: true },
    detectedBy: ["outgoing_traceparent"],
  },
  "an invalid header is echoed": { fault: { echo: true }, detectedBy: ["invalid_headers_echo"] },
  "a malformed trace id is continued": { fault: { continuesMalformed: true }, detectedBy: ["invalid_headers_echo"] },
  "an invalid header breaks the page": { fault: { breaksOnInvalidTrace: true }, detectedBy: ["invalid_headers_page"] },
  "responses carry trace headers": { fault: { respondsWithTrace: true }, detectedBy: ["no_trace_headers"] },
  "web throttled to 1 s": {
    fault: { delayMs: 1000 },
    detectedBy: ["page duration"],
    journeys: ["continued", "concurrent"],
  },
  "ingest down": { fault: { ingestDown: true }, detectedBy: ["tunnel_accepted"] },
  "tunnel accepts one envelope and rate-limits all others": {
    fault: { acceptsOneEnvelope: true },
    detectedBy: ["tunnel_within_limits"],
  },
  "envelopes delay pages": {
    fault: { tunnelBlocksPages: true },
    detectedBy: ["page_independent"],
    journeys: ["independence"],
  },
  "the action is lost": { fault: { actionLost: true }, detectedBy: ["action_ok"] },
  "a build file is missing": { fault: { assetLost: true }, detectedBy: ["asset_ok"] },
  "redirect to the internal address": { fault: { redirectAway: true }, detectedBy: ["redirect_ok"] },
};
