import { setTimeout as pause } from "node:timers/promises";
import { withFirstLine } from "./coding.ts";
import type { Destination } from "./destination.ts";
import { Holds } from "./holds.ts";
import type { Send } from "./ingest.ts";
import type { Journal } from "./journal.ts";
import { Limits } from "./limits.ts";
import { say, sayNowAndThen } from "./log.ts";
import type { Pace } from "./pace.ts";
import { sentNow } from "./sent-at.ts";
import type { Claimed, Store } from "./store.ts";
import { judge, type Verdict } from "./verdict.ts";

const batch = { most: 32, bytes: 8 << 20 };
const idle = 1_000;

/** Delivers what waits for one destination: the worthiest and oldest first, no faster than the ingest can bear. */
export class Courier {
  #to: Destination;
  #store: Store;
  #journal: Journal;
  #send: Send;
  #pace: Pace;
  #limits = new Limits();
  #holds = new Holds();
  #claimed: Claimed[] = [];
  #underway = new Set<Promise<void>>();
  #bytes = 0;
  #stopped = false;
  #wake = () => {};

  constructor(to: Destination, store: Store, journal: Journal, send: Send, pace: Pace) {
    this.#to = to;
    this.#store = store;
    this.#journal = journal;
    this.#send = send;
    this.#pace = pace;
  }

  /** Works until `stop`. */
  async run(): Promise<void> {
    while (!this.#stopped) {
      const wait = this.#pace.wait(Date.now());
      if (wait > 0) await this.#rest(wait);
      else if (this.#isBusy()) await this.#rest(idle);
      else {
        const next = await this.#next();
        if (next) this.#start(next);
        else await this.#rest(idle);
      }
    }
  }

  /** Takes no new envelope, and resolves when those underway have come to an end or `patience` ms are over. */
  async stop(patience: number): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await Promise.race([Promise.allSettled(this.#underway), pause(patience)]);
  }

  #isBusy(): boolean {
    return this.#underway.size >= this.#pace.atOnce || this.#bytes >= batch.bytes;
  }

  #rest(most: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake(), most);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = () => {};
        resolve();
      };
    });
  }

  async #next(): Promise<Claimed | undefined> {
    if (this.#claimed.length === 0) this.#claimed = await this.#claim();
    return this.#claimed.shift();
  }

  async #claim(): Promise<Claimed[]> {
    const now = Date.now();
    const ready = ({ destination, category }: { destination: string; category: string }) =>
      destination === this.#to.url && this.#limits.until(category) <= now;
    const most = this.#pace.failing ? 1 : batch.most;
    if (!this.#store.lanes.occupied().some(ready)) return [];
    const claim = () => {
      for (const lane of this.#store.lanes.occupied().filter(ready)) {
        const found = this.#store.claim(lane, { ...batch, most, except: this.#holds.at(now) });
        if (found.length > 0) return found;
      }
      return [];
    };
    return this.#journal.write(claim).catch(() => []);
  }

  #start(envelope: Claimed): void {
    const size = envelope.body.length;
    this.#bytes += size;
    const done = this.#deliver(envelope).finally(() => {
      this.#underway.delete(done);
      this.#bytes -= size;
      this.#wake();
    });
    this.#underway.add(done);
  }

  async #deliver(envelope: Claimed): Promise<void> {
    const began = Date.now();
    // Limits may have come in since it was claimed.
    if (this.#limits.until(envelope.category) > began) {
      return this.#settle(() => this.#store.release(envelope.id, envelope.repeated));
    }
    this.#pace.sent(began);
    const verdict = await this.#attempt(envelope);
    await this.#settle(this.#consequence(envelope, verdict, began));
  }

  async #attempt({ headers, body }: Claimed): Promise<Verdict> {
    let fresh = body;
    try {
      if (this.#to.takes === "envelope") {
        fresh = await withFirstLine(body, headers.contentEncoding, (line) => sentNow(line));
      }
    } catch {
      return { kind: "final", reason: "unreadable" };
    }
    const answer = await this.#send(this.#to.url, headers, fresh);
    if ("status" in answer) this.#limits.heed(answer.status, answer.headers);
    return judge(answer);
  }

  /** Turns a verdict into what has to be written, and tells the pace. */
  #consequence({ id, category, repeated }: Claimed, verdict: Verdict, began: number): () => void {
    const now = Date.now();
    const { host } = this.#to;
    const well = !this.#pace.failing;
    if (verdict.kind === "failed") {
      const rest = this.#pace.failed(began, now, verdict.wait);
      this.#holds.hold(id, rest, well, now);
      if (well) say(`ingest ${host} takes nothing (${verdict.reason}): envelopes wait, nothing is lost`);
      return () => this.#store.release(id, repeated || verdict.unknown);
    }
    if (!well) {
      say(`ingest ${host} is back: delivering what waits`);
      this.#holds.relax();
    }
    this.#pace.succeeded(now);
    if (verdict.kind === "limited") {
      // Where the limits name others, this one alone has to wait.
      if (this.#limits.until(category) <= now) this.#holds.hold(id, verdict.wait ?? 60_000, true, now);
      return () => this.#store.release(id, repeated);
    }
    this.#holds.forget(id);
    if (verdict.kind === "delivered") return () => this.#store.remove(id, "delivered");
    const line = `ingest ${host} refused an envelope for good (${verdict.reason}): dropped and counted`;
    sayNowAndThen(`${host} ${verdict.reason}`, line);
    return () => this.#store.remove(id, "dropped", verdict.reason);
  }

  /** Writes an outcome, again and again while the disk takes nothing: until then the envelope stays claimed. */
  async #settle(outcome: () => void): Promise<void> {
    for (;;) {
      try {
        return await this.#journal.write(outcome);
      } catch {
        if (this.#stopped) return;
        await pause(idle);
      }
    }
  }
}
