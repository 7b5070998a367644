import { retryAfterMs } from "./rate-limits.ts";
import type { Response } from "./send.ts";

/** The outcome of one attempt to deliver an envelope. */
export type Outcome =
  | { kind: "delivered" }
  /** Never to be sent again. `reason` is a label of culvert_spool_dropped_total. */
  | { kind: "rejected"; reason: string }
  /** Sent again when rate-limits.ts allows its category; if only other categories are limited, after a pause (deferred.ts). */
  | { kind: "rate_limited"; retryAfterMs: number }
  /** Sent again, after at least `retryAfterMs`. */
  | { kind: "failed"; reason: string; mayHaveArrived: boolean; retryAfterMs: number };

/** 4xx statuses about the connection and not about the envelope: RFC 9110 15.5.9, RFC 8470 5.2. */
const temporary = [408, 425];

/**
 * Classifies the response to an attempt. Every 4xx except 408, 425 and 429 is final, including 401 and 403: Sentry has SDKs discard
 * such envelopes, and the key it rejects is part of the envelope. Redirects are not followed: envelopes go only to configured ingests.
 * https://develop.sentry.dev/sdk/foundations/transport/offline-caching/
 */
export function classifyResponse(response: Response): Outcome {
  if ("error" in response) {
    return { kind: "failed", reason: response.error, mayHaveArrived: response.mayHaveArrived, retryAfterMs: 0 };
  }
  const { status, headers } = response;
  const reason = `http_${status}`;
  if (status >= 200 && status < 300) return { kind: "delivered" };
  if (status === 429) return { kind: "rate_limited", retryAfterMs: retryAfterMs(headers) ?? 60_000 };
  if (status >= 400 && status < 500 && !temporary.includes(status)) return { kind: "rejected", reason };
  return { kind: "failed", reason, mayHaveArrived: false, retryAfterMs: retryAfterMs(headers) ?? 0 };
}
