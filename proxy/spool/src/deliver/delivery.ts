import { setTimeout as sleep } from "node:timers/promises";
import type { Destination } from "../destination.ts";
import { log, logOncePerMinute } from "../log.ts";
import type { GroupCommit } from "../queue/group-commit.ts";
import type { Queue } from "../queue/queues.ts";
import type { ClaimedEnvelope, Store } from "../queue/store.ts";
import type { Backoff } from "./backoff.ts";
import { classifyResponse, type Outcome } from "./classify-response.ts";
import { DeferredEnvelopes } from "./deferred.ts";
import { replaceFirstLine } from "./first-line.ts";
import { RateLimits } from "./rate-limits.ts";
import type { Send } from "./send.ts";
import { withSentAt } from "./sent-at.ts";

const batch = { max: 32, bytes: 8 << 20 };
const diskRetryIntervalMs = 1_000;

/** Delivery to one destination: which envelopes come next, and the consequences of the ingest's response. */
export class Delivery {
  #destination: Destination;
  #store: Store;
  #transactions: GroupCommit;
  #send: Send;
  #backoff: Backoff;
  #rateLimits = new RateLimits();
  #deferred = new DeferredEnvelopes();

  constructor(destination: Destination, store: Store, transactions: GroupCommit, send: Send, backoff: Backoff) {
    this.#destination = destination;
    this.#store = store;
    this.#transactions = transactions;
    this.#send = send;
    this.#backoff = backoff;
  }

  /** Claims the next envelopes: the highest priority that is not rate limited, oldest first; at most as many as may be in flight. */
  async claim(): Promise<ClaimedEnvelope[]> {
    const now = performance.now();
    const isReady = ({ destination, category }: Queue) =>
      destination === this.#destination.url && this.#rateLimits.until(category) <= now;
    const queues = this.#transactions.read(() => this.#store.queues.nonEmpty()).filter(isReady);
    if (queues.length === 0) return [];
    const max = Math.min(batch.max, this.#backoff.concurrency(now));
    const next = (): ClaimedEnvelope[] => {
      const except = this.#deferred.ids(now);
      for (const queue of queues) {
        const found = this.#store.claim(queue, { bytes: batch.bytes, max, except });
        if (found.length > 0) return found;
      }
      return this.#deferred.startNextRound() ? next() : [];
    };
    return this.#transactions.write(next);
  }

  /** Sends an envelope and records the outcome. */
  async deliver(envelope: ClaimedEnvelope): Promise<void> {
    const startedAt = performance.now();
    // A rate limit may have arrived since it was claimed.
    if (this.#rateLimits.until(envelope.category) > startedAt) return this.release(envelope);
    this.#backoff.sent(startedAt);
    // An unexpected error must not end the process and with it all other deliveries: it counts as a failed attempt.
    const outcome = await this.#attempt(envelope).catch((error) =>
      classifyResponse({ error: `${error}`, mayHaveArrived: true }),
    );
    await this.#write(this.#consequence(envelope, outcome, startedAt));
  }

  /** Returns an envelope that was claimed but not sent to its queue. */
  release({ id, redelivery }: ClaimedEnvelope): Promise<void> {
    return this.#write(() => this.#store.release(id, redelivery));
  }

  async #attempt({ headers, body }: ClaimedEnvelope): Promise<Outcome> {
    let chunks = [body];
    try {
      if (this.#destination.accepts === "envelope")
        chunks = await replaceFirstLine(body, headers.contentEncoding ?? "", (line) => withSentAt(line));
    } catch {
      return { kind: "rejected", reason: "unreadable" };
    }
    const response = await this.#send(this.#destination.url, headers, chunks);
    if ("status" in response) this.#rateLimits.update(response.status, response.headers);
    return classifyResponse(response);
  }

  /** Updates the backoff, and returns what has to be written. */
  #consequence(envelope: ClaimedEnvelope, outcome: Outcome, startedAt: number): () => void {
    const { id, category, redelivery } = envelope;
    const now = performance.now();
    const { host } = this.#destination;
    const wasHealthy = !this.#backoff.isFailing;
    if (outcome.kind === "failed") {
      const pauseMs = this.#backoff.failed(startedAt, now, outcome);
      this.#deferred.failed(id);
      this.#deferred.defer(id, pauseMs, wasHealthy, now);
      if (wasHealthy) log(`ingest ${host} does not accept envelopes (${outcome.reason}): they stay queued`);
      return () => this.#store.release(id, redelivery || outcome.mayHaveArrived);
    }
    if (!wasHealthy) {
      log(`ingest ${host} is back: delivering the queued envelopes`);
      this.#deferred.ingestRecovered(now);
    }
    this.#backoff.succeeded(now);
    this.#deferred.startNextRound();
    if (outcome.kind === "rate_limited") {
      // If the limits are for other categories, only this envelope waits.
      if (this.#rateLimits.until(category) <= now) this.#deferred.defer(id, outcome.retryAfterMs, true, now);
      return () => this.#store.release(id, redelivery);
    }
    this.#deferred.forget(id);
    if (outcome.kind === "delivered") return () => this.#delivered(envelope);
    const line = `ingest ${host} rejected an envelope (${outcome.reason}): dropped and counted`;
    logOncePerMinute(`${host} ${outcome.reason}`, line);
    return () => this.#store.remove(id, "dropped", outcome.reason);
  }

  #delivered({ id, category, redelivery }: ClaimedEnvelope): void {
    this.#store.remove(id, "delivered");
    if (redelivery) this.#store.counters.add("redelivered", category);
  }

  /** Writes an outcome, and retries while the disk fails: until then the envelope stays claimed. */
  async #write(outcome: () => void): Promise<void> {
    for (;;) {
      try {
        return await this.#transactions.write(outcome);
      } catch {
        await sleep(diskRetryIntervalMs, undefined, { ref: false });
      }
    }
  }
}
