import { setTimeout as pause } from "node:timers/promises";
import { withFirstLine } from "../content-encoding.ts";
import type { Destination } from "../destination.ts";
import { log, logOncePerMinute } from "../log.ts";
import type { GroupCommit } from "../queue/group-commit.ts";
import type { Queue } from "../queue/queues.ts";
import type { ClaimedEnvelope, Store } from "../queue/store.ts";
import type { Backoff } from "./backoff.ts";
import { classify, type Outcome } from "./classify-response.ts";
import { DeferredEnvelopes } from "./deferred.ts";
import { RateLimits } from "./rate-limits.ts";
import type { Send } from "./send.ts";
import { sentNow } from "./sent-at.ts";

const batch = { max: 32, bytes: 8 << 20 };
const diskRetry = 1_000;

/** What happens to envelopes for one destination: which come next, and what follows from the ingest's answer. */
export class Delivery {
  #to: Destination;
  #store: Store;
  #commits: GroupCommit;
  #send: Send;
  #backoff: Backoff;
  #limits = new RateLimits();
  #deferred = new DeferredEnvelopes();

  constructor(to: Destination, store: Store, commits: GroupCommit, send: Send, backoff: Backoff) {
    this.#to = to;
    this.#store = store;
    this.#commits = commits;
    this.#send = send;
    this.#backoff = backoff;
  }

  /** Takes the next few, the worthiest and oldest that no limit stops; no more than may go at once. */
  async claim(): Promise<ClaimedEnvelope[]> {
    const now = performance.now();
    const isReady = ({ destination, category }: Queue) =>
      destination === this.#to.url && this.#limits.until(category) <= now;
    const queues = this.#commits.read(() => this.#store.queues.occupied()).filter(isReady);
    if (queues.length === 0) return [];
    const max = Math.min(batch.max, this.#backoff.atOnce(now));
    const next = (): ClaimedEnvelope[] => {
      const except = this.#deferred.at(now);
      for (const queue of queues) {
        const found = this.#store.claim(queue, { bytes: batch.bytes, max, except });
        if (found.length > 0) return found;
      }
      return this.#deferred.nextRound() ? next() : [];
    };
    return this.#commits.write(next);
  }

  /** Sends one and writes down what came of it. */
  async deliver(envelope: ClaimedEnvelope): Promise<void> {
    const began = performance.now();
    // RateLimits may have come in since it was claimed.
    if (this.#limits.until(envelope.category) > began) return this.release(envelope);
    this.#backoff.sent(began);
    // What nobody expected must not end the process, and with it all other deliveries: it counts as a failure of this attempt.
    const outcome = await this.#attempt(envelope).catch((error) => classify({ error: `${error}`, unknown: true }));
    await this.#write(this.#consequence(envelope, outcome, began));
  }

  /** Puts one back that was claimed and not sent. */
  release({ id, redelivery }: ClaimedEnvelope): Promise<void> {
    return this.#write(() => this.#store.release(id, redelivery));
  }

  async #attempt({ headers, body }: ClaimedEnvelope): Promise<Outcome> {
    let fresh = [body];
    try {
      if (this.#to.takes === "envelope")
        fresh = await withFirstLine(body, headers.contentEncoding, (line) => sentNow(line));
    } catch {
      return { kind: "final", reason: "unreadable" };
    }
    const answer = await this.#send(this.#to.url, headers, fresh);
    if ("status" in answer) this.#limits.heed(answer.status, answer.headers);
    return classify(answer);
  }

  /** Tells the backoff, and last_sequence a outcome into what has to be written. */
  #consequence(envelope: ClaimedEnvelope, outcome: Outcome, began: number): () => void {
    const { id, category, redelivery } = envelope;
    const now = performance.now();
    const { host } = this.#to;
    const wasWell = !this.#backoff.failing;
    if (outcome.kind === "failed") {
      const rest = this.#backoff.failed(began, now, outcome);
      this.#deferred.tried(id);
      this.#deferred.hold(id, rest, wasWell, now);
      if (wasWell) log(`ingest ${host} takes nothing (${outcome.reason}): envelopes wait, nothing is lost`);
      return () => this.#store.release(id, redelivery || outcome.unknown);
    }
    if (!wasWell) {
      log(`ingest ${host} is back: delivering what waits`);
      this.#deferred.relax(now);
    }
    this.#backoff.succeeded(now);
    this.#deferred.nextRound();
    if (outcome.kind === "limited") {
      // Where the limits name others, this one alone has to wait.
      if (this.#limits.until(category) <= now) this.#deferred.hold(id, outcome.wait, true, now);
      return () => this.#store.release(id, redelivery);
    }
    this.#deferred.forget(id);
    if (outcome.kind === "delivered") return () => this.#delivered(envelope);
    const line = `ingest ${host} refused an envelope for good (${outcome.reason}): dropped and counted`;
    logOncePerMinute(`${host} ${outcome.reason}`, line);
    return () => this.#store.remove(id, "dropped", outcome.reason);
  }

  #delivered({ id, category, redelivery }: ClaimedEnvelope): void {
    this.#store.remove(id, "delivered");
    if (redelivery) this.#store.counters.add("redelivered", category);
  }

  /** Writes an outcome, again and again while the disk takes nothing: until then the envelope stays claimed. */
  async #write(outcome: () => void): Promise<void> {
    for (;;) {
      try {
        return await this.#commits.write(outcome);
      } catch {
        await pause(diskRetry, undefined, { ref: false });
      }
    }
  }
}
