import { setTimeout as sleep } from "node:timers/promises";
import type { Destination } from "../destination.ts";
import { encodingOf } from "../envelope-headers.ts";
import { log, logOncePerMinute } from "../log.ts";
import type { GroupCommit } from "../queue/group-commit.ts";
import type { Queue } from "../queue/queues.ts";
import type { ClaimedEnvelope, Store } from "../queue/store.ts";
import type { Backoff } from "./backoff.ts";
import { classifyResponse, type Outcome } from "./classify-response.ts";
import { DeferredEnvelopes } from "./deferred.ts";
import { RateLimits } from "./rate-limits.ts";
import type { Send } from "./send.ts";
import { withSentAt } from "./sent-at.ts";

const batch = { max: 32, bytes: 8 << 20 };
const diskRetryIntervalMs = 1_000;

export type Delivery = ReturnType<typeof createDelivery>;

/**
 * Delivery to one destination: which envelopes come next, and the consequences of the ingest's response. `backoff` is that of the ingest,
 * which may have several destinations.
 */
export function createDelivery(
  { url, accepts, host }: Destination,
  store: Store,
  transactions: GroupCommit,
  send: Send,
  backoff: Backoff,
) {
  const rateLimits = new RateLimits();
  const deferred = new DeferredEnvelopes();

  /**
   * Claims the next envelopes: the highest priority that is not rate limited, large ones last within it and only if `maybeLarge`, oldest
   * first; at most as many as may be in flight.
   */
  const claim = async (maybeLarge: boolean): Promise<ClaimedEnvelope[]> => {
    const now = performance.now();
    const isReady = ({ destination, category, isLarge }: Queue) =>
      destination === url && rateLimits.until(category) <= now && (maybeLarge || !isLarge);
    const queues = transactions.read(() => store.queues.nonEmpty()).filter(isReady);
    if (queues.length === 0) return [];
    const max = Math.min(batch.max, backoff.concurrency(now));
    const next = (): ClaimedEnvelope[] => {
      const except = deferred.ids(now);
      for (const queue of queues) {
        const found = store.claim(queue, { bytes: batch.bytes, max: queue.isLarge ? 1 : max, except });
        if (found.length > 0) return found;
      }
      return deferred.retry() ? next() : [];
    };
    return transactions.write(next);
  };

  const attempt = async ({ headers, body, received }: ClaimedEnvelope): Promise<Outcome> => {
    let chunks = [body];
    try {
      const delayMs = Math.max(0, Date.now() - received);
      if (accepts === "envelope") chunks = await withSentAt(body, encodingOf(headers), delayMs);
    } catch {
      return { kind: "rejected", reason: "unreadable" };
    }
    const response = await send(url, headers, chunks);
    if ("status" in response) rateLimits.update(response.status, response.headers);
    return classifyResponse(response);
  };

  /** Updates the backoff, and returns what has to be written. */
  const consequence = (
    { id, category, redelivery }: ClaimedEnvelope,
    outcome: Outcome,
    startedAt: number,
    wasHealthy: boolean,
  ) => {
    const now = performance.now();
    const isFailing = backoff.isFailing;
    if (outcome.kind === "failed") {
      deferred.defer(id, backoff.failed(startedAt, now, outcome.retryAfterMs), wasHealthy, now);
      if (!isFailing) log(`ingest ${host} does not accept envelopes (${outcome.reason}): they stay queued`);
      return () => store.release(id, redelivery || outcome.mayHaveArrived);
    }
    if (isFailing) log(`ingest ${host} is back: delivering the queued envelopes`);
    backoff.succeeded(now);
    deferred.retry();
    if (outcome.kind === "rate_limited") {
      // If the limits are for other categories, only this envelope waits.
      if (rateLimits.until(category) <= now) deferred.defer(id, outcome.retryAfterMs, true, now);
      return () => store.release(id, redelivery);
    }
    deferred.forget(id);
    if (outcome.kind === "rejected") {
      const line = `ingest ${host} rejected an envelope (${outcome.reason}): dropped and counted`;
      logOncePerMinute(`${host} ${outcome.reason}`, line);
      return () => store.remove(id, "dropped", outcome.reason);
    }
    return () => {
      store.remove(id, "delivered");
      if (redelivery) store.counters.add("redelivered", category);
    };
  };

  /** Writes an outcome, and retries while the disk fails: until then the envelope stays claimed. */
  const write = (outcome: () => void): Promise<void> =>
    transactions
      .write(outcome)
      .catch(() => sleep(diskRetryIntervalMs, undefined, { ref: false }).then(() => write(outcome)));

  /** Returns an envelope that was claimed but not sent to its queue. */
  const release = ({ id, redelivery }: ClaimedEnvelope) => write(() => store.release(id, redelivery));

  /** Sends an envelope and records the outcome. */
  const deliver = async (envelope: ClaimedEnvelope): Promise<void> => {
    const startedAt = performance.now();
    const wasHealthy = !backoff.isFailing;
    // A rate limit may have arrived since it was claimed.
    if (rateLimits.until(envelope.category) > startedAt) return release(envelope);
    backoff.sent(startedAt);
    // An unexpected error must not end the process and with it all other deliveries: it counts as a failed attempt.
    const outcome = await attempt(envelope).catch((error) =>
      classifyResponse({ error: `${error}`, mayHaveArrived: true }),
    );
    await write(consequence(envelope, outcome, startedAt, wasHealthy));
  };

  return { claim, deliver, release };
}
