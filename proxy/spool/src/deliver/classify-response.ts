import { retryAfter } from "./rate-limits.ts";
import type { Answer } from "./send.ts";

/** What an attempt means for the envelope. */
export type Outcome =
  | { kind: "delivered" }
  /** Never to be sent again. `reason` is what the drop is counted under. */
  | { kind: "final"; reason: string }
  /** The ingest wants to be spared: by category as limits.ts knows, else this one for `wait` ms. */
  | { kind: "limited"; wait: number }
  /** The ingest is not well: later, after at least `wait` ms. `answered`: it said so itself. */
  | { kind: "failed"; reason: string; answered: boolean; unknown: boolean; wait: number };

/** These speak of the moment, not of the envelope: RFC 9110 15.5.9, RFC 8470 5.2. */
const passing = [408, 425];

/**
 * Judges an attempt. Every 4xx but 429 is final, 401 and 403 too: Sentry has SDKs discard such envelopes, and the key that
 * it refuses rides in the envelope itself. Redirects are not followed: a report goes to the configured ingest or nowhere.
 * https://develop.sentry.dev/sdk/foundations/transport/offline-caching/
 */
export function classify(answer: Answer): Outcome {
  if ("error" in answer)
    return { kind: "failed", reason: answer.error, answered: false, unknown: answer.unknown, wait: 0 };
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return { kind: "delivered" };
  if (status === 429) return { kind: "limited", wait: retryAfter(headers) ?? 60_000 };
  if (status >= 400 && status < 500 && !passing.includes(status)) return { kind: "final", reason: `http_${status}` };
  return { kind: "failed", reason: `http_${status}`, answered: true, unknown: false, wait: retryAfter(headers) ?? 0 };
}
