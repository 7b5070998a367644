import { setTimeout as pause } from "node:timers/promises";
import { withFirstLine } from "./coding.ts";
import type { Destination } from "./destination.ts";
import { Holds } from "./holds.ts";
import type { Send } from "./ingest.ts";
import type { Journal } from "./journal.ts";
import type { Lane } from "./lanes.ts";
import { Limits } from "./limits.ts";
import { say, sayNowAndThen } from "./log.ts";
import type { Pace } from "./pace.ts";
import { sentNow } from "./sent-at.ts";
import type { Claimed, Store } from "./store.ts";
import { judge, type Verdict } from "./verdict.ts";

const batch = { most: 32, bytes: 8 << 20 };
const diskRetry = 1_000;

/** What happens to envelopes for one destination: which come next, and what follows from the ingest's answer. */
export class Delivery {
  #to: Destination;
  #store: Store;
  #journal: Journal;
  #send: Send;
  #pace: Pace;
  #limits = new Limits();
  #holds = new Holds();

  constructor(to: Destination, store: Store, journal: Journal, send: Send, pace: Pace) {
    this.#to = to;
    this.#store = store;
    this.#journal = journal;
    this.#send = send;
    this.#pace = pace;
  }

  /** Takes the next few, the worthiest and oldest that no limit stops; no more than may go at once. */
  async claim(): Promise<Claimed[]> {
    const now = performance.now();
    const isReady = ({ destination, category }: Lane) =>
      destination === this.#to.url && this.#limits.until(category) <= now;
    const lanes = this.#journal.read(() => this.#store.lanes.occupied()).filter(isReady);
    if (lanes.length === 0) return [];
    const most = Math.min(batch.most, this.#pace.atOnce(now));
    const next = (): Claimed[] => {
      const except = this.#holds.at(now);
      for (const lane of lanes) {
        const found = this.#store.claim(lane, { bytes: batch.bytes, most, except });
        if (found.length > 0) return found;
      }
      return this.#holds.nextRound() ? next() : [];
    };
    return this.#journal.write(next);
  }

  /** Sends one and writes down what came of it. */
  async deliver(envelope: Claimed): Promise<void> {
    const began = performance.now();
    // Limits may have come in since it was claimed.
    if (this.#limits.until(envelope.category) > began) return this.release(envelope);
    this.#pace.sent(began);
    // What nobody expected must not end the process, and with it all other deliveries: it counts as a failure of this attempt.
    const verdict = await this.#attempt(envelope).catch((error) => judge({ error: `${error}`, unknown: true }));
    await this.#write(this.#consequence(envelope, verdict, began));
  }

  /** Puts one back that was claimed and not sent. */
  release({ id, repeated }: Claimed): Promise<void> {
    return this.#write(() => this.#store.release(id, repeated));
  }

  async #attempt({ headers, body }: Claimed): Promise<Verdict> {
    let fresh = [body];
    try {
      if (this.#to.takes === "envelope")
        fresh = await withFirstLine(body, headers.contentEncoding, (line) => sentNow(line));
    } catch {
      return { kind: "final", reason: "unreadable" };
    }
    const answer = await this.#send(this.#to.url, headers, fresh);
    if ("status" in answer) this.#limits.heed(answer.status, answer.headers);
    return judge(answer);
  }

  /** Tells the pace, and turns a verdict into what has to be written. */
  #consequence(envelope: Claimed, verdict: Verdict, began: number): () => void {
    const { id, category, repeated } = envelope;
    const now = performance.now();
    const { host } = this.#to;
    const wasWell = !this.#pace.failing;
    if (verdict.kind === "failed") {
      const rest = this.#pace.failed(began, now, verdict);
      this.#holds.tried(id);
      this.#holds.hold(id, rest, wasWell, now);
      if (wasWell) say(`ingest ${host} takes nothing (${verdict.reason}): envelopes wait, nothing is lost`);
      return () => this.#store.release(id, repeated || verdict.unknown);
    }
    if (!wasWell) {
      say(`ingest ${host} is back: delivering what waits`);
      this.#holds.relax(now);
    }
    this.#pace.succeeded(now);
    this.#holds.nextRound();
    if (verdict.kind === "limited") {
      // Where the limits name others, this one alone has to wait.
      if (this.#limits.until(category) <= now) this.#holds.hold(id, verdict.wait, true, now);
      return () => this.#store.release(id, repeated);
    }
    this.#holds.forget(id);
    if (verdict.kind === "delivered") return () => this.#delivered(envelope);
    const line = `ingest ${host} refused an envelope for good (${verdict.reason}): dropped and counted`;
    sayNowAndThen(`${host} ${verdict.reason}`, line);
    return () => this.#store.remove(id, "dropped", verdict.reason);
  }

  #delivered({ id, category, repeated }: Claimed): void {
    this.#store.remove(id, "delivered");
    if (repeated) this.#store.tally.add("repeated", category);
  }

  /** Writes an outcome, again and again while the disk takes nothing: until then the envelope stays claimed. */
  async #write(outcome: () => void): Promise<void> {
    for (;;) {
      try {
        return await this.#journal.write(outcome);
      } catch {
        await pause(diskRetry, undefined, { ref: false });
      }
    }
  }
}
