import { setTimeout as pause } from "node:timers/promises";
import type { ClaimedEnvelope } from "../queue/store.ts";
import type { Backoff } from "./backoff.ts";
import type { Delivery } from "./delivery.ts";

const idle = 1_000;
const mostBytes = 8 << 20;

/** Keeps a delivery going: as many at once and as fast as its backoff allows. */
export class DeliveryWorker {
  #delivery: Delivery;
  #backoff: Backoff;
  #claimed: ClaimedEnvelope[] = [];
  #underway = new Set<Promise<void>>();
  #bytes = 0;
  #loop: Promise<void> = Promise.resolve();
  #stopped = false;
  #wake = () => {};

  constructor(delivery: Delivery, backoff: Backoff) {
    this.#delivery = delivery;
    this.#backoff = backoff;
  }

  /** Begins; works until `stop`. */
  start(): void {
    this.#loop = this.#work();
  }

  /** Starts nothing new; resolves when those underway have ended and the rest is put back, or after `timeoutMs` ms. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopped = true;
    this.#wake();
    const ended = this.#loop.then(() => {
      const unsent = this.#claimed.map((envelope) => this.#delivery.release(envelope));
      return Promise.allSettled([...this.#underway, ...unsent]);
    });
    await Promise.race([ended, pause(timeoutMs)]);
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      const now = performance.now();
      const wait = this.#backoff.wait(now);
      const isFull = this.#underway.size >= this.#backoff.atOnce(now) || this.#bytes >= mostBytes;
      if (wait > 0) await this.#rest(wait);
      else if (isFull || !(await this.#hasNext())) await this.#rest(idle);
      else if (!this.#stopped) this.#send(this.#claimed.shift() as ClaimedEnvelope);
    }
  }

  async #hasNext(): Promise<boolean> {
    // A disk that takes nothing has been spoken of where it was written to.
    if (this.#claimed.length === 0) this.#claimed = await this.#delivery.claim().catch(() => []);
    return this.#claimed.length > 0;
  }

  #send(envelope: ClaimedEnvelope): void {
    this.#bytes += envelope.body.length;
    const done = this.#delivery.deliver(envelope).finally(() => {
      this.#underway.delete(done);
      this.#bytes -= envelope.body.length;
      this.#wake();
    });
    this.#underway.add(done);
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
}
