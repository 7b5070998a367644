import type { CheckId } from "../lib/checks.ts";
import type { JourneyName } from "../lib/journeys.ts";

/** How the stub misbehaves. */
export interface Plant {
  /** An app of its own instead of the example: no fault, but the defaults' pages are not there. */
  noConsole?: true;
  dropBaggage?: true;
  dropSentryTrace?: true;
  cachedPage?: true;
  cachedNotFound?: true;
  mixedUpVisitors?: true;
  flipSampled?: true;
  thawedBaggage?: true;
  sameSpan?: true;
  noindexMissing?: true;
  noindexEverywhere?: true;
  softNotFound?: true;
  openRelay?: true;
  getOnTunnel?: true;
  upstreamUntraced?: true;
  otherTraceparent?: true;
  echo?: true;
  adoptsMalformed?: true;
  breaksOnBadTrace?: true;
  answersWithTrace?: true;
  takesOneReport?: true;
  ingestDown?: true;
  actionLost?: true;
  assetLost?: true;
  redirectAway?: true;
  delayMs?: number;
  tunnelBlocksPages?: true;
}

/** The checks that owe the alarm; `page speed` is the p95 limit of pages. */
export type Alarm = CheckId | "page speed";

/** Every fault that the suite is proven to catch: how to plant it, who must notice, and in which journeys (default: all). */
export const FAULTS: Record<string, { plant: Plant; caughtBy: Alarm[]; journeys?: JourneyName[] }> = {
  "proxy drops baggage": {
    plant: { dropBaggage: true },
    caughtBy: ["forwarded", "continued_baggage", "outgoing_baggage"],
  },
  "proxy drops sentry-trace": {
    plant: { dropSentryTrace: true },
    caughtBy: ["forwarded", "continued_trace", "outgoing_trace"],
  },
  "a page is cached with its trace": { plant: { cachedPage: true }, caughtBy: ["fresh_unique", "continued_trace"] },
  "the 404 page is cached with its trace": { plant: { cachedNotFound: true }, caughtBy: ["fresh_unique"] },
  "two visitors at once are mixed up": { plant: { mixedUpVisitors: true }, caughtBy: ["fresh_unique"] },
  "sampling flag flipped": { plant: { flipSampled: true }, caughtBy: ["continued_sampled", "outgoing_trace"] },
  "sampling rate rewritten": { plant: { thawedBaggage: true }, caughtBy: ["continued_baggage", "outgoing_baggage"] },
  "the caller's span id is handed on": { plant: { sameSpan: true }, caughtBy: ["continued_span"] },
  "404 header removed": { plant: { noindexMissing: true }, caughtBy: ["not_found_noindex"] },
  "noindex on every answer": { plant: { noindexEverywhere: true }, caughtBy: ["indexable"] },
  "soft 404": { plant: { softNotFound: true }, caughtBy: ["not_found_status"] },
  "tunnel forwards a foreign project": { plant: { openRelay: true }, caughtBy: ["tunnel_refused"] },
  "tunnel answers GET": { plant: { getOnTunnel: true }, caughtBy: ["tunnel_refused"] },
  "upstream call without a trace": {
    plant: { upstreamUntraced: true },
    caughtBy: ["outgoing_trace", "outgoing_traceparent", "outgoing_baggage"],
  },
  "upstream call with a traceparent of another trace": {
    plant: { otherTraceparent: true },
    caughtBy: ["outgoing_traceparent"],
  },
  "a bad header is echoed": { plant: { echo: true }, caughtBy: ["hygiene_echo"] },
  "a malformed trace id is adopted": { plant: { adoptsMalformed: true }, caughtBy: ["hygiene_echo"] },
  "a bad header breaks the page": { plant: { breaksOnBadTrace: true }, caughtBy: ["hygiene_page"] },
  "answers carry trace headers": { plant: { answersWithTrace: true }, caughtBy: ["answers_clean"] },
  "web throttled to 1 s": { plant: { delayMs: 1000 }, caughtBy: ["page speed"], journeys: ["continued", "crowd"] },
  "ingest down": { plant: { ingestDown: true }, caughtBy: ["tunnel_accepted"] },
  "tunnel takes one report and calls all others too many": {
    plant: { takesOneReport: true },
    caughtBy: ["tunnel_open"],
  },
  "reports hold pages up": {
    plant: { tunnelBlocksPages: true },
    caughtBy: ["page_independent"],
    journeys: ["independence"],
  },
  "the action is lost": { plant: { actionLost: true }, caughtBy: ["action_ok"] },
  "a build file is gone": { plant: { assetLost: true }, caughtBy: ["asset_ok"] },
  "redirect to the internal address": { plant: { redirectAway: true }, caughtBy: ["redirect_ok"] },
};
