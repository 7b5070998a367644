import { setTimeout as sleep } from "node:timers/promises";
import type { ClaimedEnvelope } from "../queue/store.ts";
import type { Backoff } from "./backoff.ts";
import type { Delivery } from "./delivery.ts";

const pollIntervalMs = 1_000;
const maxBytesInFlight = 8 << 20;

/**
 * Delivers continuously to one ingest, with the concurrency and the rate that its backoff allows. Its destinations take turns, so that none
 * waits for another's queue.
 */
export class DeliveryWorker {
  /** The last one has the turn. */
  #deliveries: Delivery[];
  #backoff: Backoff;
  /** Those of the delivery that has the turn. */
  #claimed: ClaimedEnvelope[] = [];
  /** One at a time, so that a decoder stays free for another ingest. */
  #isLargeInFlight = false;
  #inFlight = new Set<Promise<void>>();
  #bytesInFlight = 0;
  #loop: Promise<void> = Promise.resolve();
  #isStopped = false;
  #wake = () => {};

  constructor(deliveries: Delivery[], backoff: Backoff) {
    this.#deliveries = deliveries;
    this.#backoff = backoff;
  }

  /** Starts; runs until `stop`. */
  start(): void {
    this.#loop = this.#run();
  }

  /** Sends no more; resolves when the requests in flight have ended and the other claimed envelopes are released, or after `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopped = true;
    this.#wake();
    const ended = this.#loop.then(() => {
      const unsent = this.#claimed.map((envelope) => this.#current.release(envelope));
      return Promise.allSettled([...this.#inFlight, ...unsent]);
    });
    await Promise.race([ended, sleep(timeoutMs)]);
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const now = performance.now();
      const delayMs = this.#backoff.delayMs(now);
      const isFull = this.#inFlight.size >= this.#backoff.concurrency(now) || this.#bytesInFlight >= maxBytesInFlight;
      if (delayMs > 0) await this.#sleep(delayMs);
      else if (isFull || !(await this.#hasNext())) await this.#sleep(pollIntervalMs);
      else if (!this.#isStopped) this.#send(this.#claimed.shift() as ClaimedEnvelope);
    }
  }

  get #current(): Delivery {
    return this.#deliveries.at(-1) as Delivery;
  }

  async #hasNext(): Promise<boolean> {
    for (let turn = 0; turn < this.#deliveries.length && this.#claimed.length === 0; turn++) {
      this.#deliveries.push(this.#deliveries.shift() as Delivery);
      // GroupCommit has reported a failure already.
      this.#claimed = await this.#current.claim(!this.#isLargeInFlight).catch(() => []);
    }
    return this.#claimed.length > 0;
  }

  #send(envelope: ClaimedEnvelope): void {
    this.#bytesInFlight += envelope.body.length;
    this.#isLargeInFlight ||= envelope.isLarge;
    const done = this.#current.deliver(envelope).finally(() => {
      this.#inFlight.delete(done);
      this.#bytesInFlight -= envelope.body.length;
      if (envelope.isLarge) this.#isLargeInFlight = false;
      this.#wake();
    });
    this.#inFlight.add(done);
  }

  /** Sleeps until a delivery ends, but no longer than `maxMs`. */
  #sleep(maxMs: number): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(resolve, maxMs).unref();
      this.#wake = resolve;
    });
  }
}
