const minPauseMs = 500;
const maxPauseMs = 10_000;
const rampUpMs = 4_000;
const maxConcurrency = 32;
const healthyForMs = 10_000;

/**
 * Rate limiter and exponential backoff for one ingest: when the next envelope may be sent. Until the ingest has accepted one
 * recently: one at a time. While it fails: after pauses that double up to 10 s, with up to half of each taken off at random, so that
 * many spools do not come back together. Once it is healthy: from a tenth of the rate to all of it within 4 s.
 * All times are those of performance.now(), which unlike the wall clock is never set.
 */
export class Backoff {
  /** The maximum of envelopes per second. */
  rate: number;
  #random: () => number;
  #failures = 0;
  #failedAt = 0;
  #pausedUntil = 0;
  #healthySince = 0;
  #acceptedAt = Number.NEGATIVE_INFINITY;
  #nextAt = 0;

  constructor(rate: number, random: () => number = Math.random) {
    this.rate = rate;
    this.#random = random;
  }

  /** How long the next envelope has to wait. */
  delayMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now, this.#nextAt - now);
  }

  /** How many envelopes may be in flight. */
  concurrency(now: number): number {
    return this.#isHealthy(now) ? maxConcurrency : 1;
  }

  /** Whether the last attempt failed. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** Records that an envelope is sent now. */
  sent(now: number): void {
    const share = Math.min(1, 0.1 + (0.9 * (now - this.#healthySince)) / rampUpMs);
    // Timers fire a few ms late; that much may be caught up with, and no more.
    this.#nextAt = Math.max(this.#nextAt, now - 100) + 1_000 / (this.rate * share);
  }

  /**
   * Records that the attempt that began at `startedAt` failed, and how long the ingest asked to wait. Attempts in flight together count as
   * one failure. Returns the pause in ms.
   */
  failed(startedAt: number, now: number, retryAfterMs: number): number {
    if (this.#failures === 0 || startedAt >= this.#failedAt) {
      const pauseMs = Math.min(maxPauseMs, minPauseMs * 2 ** this.#failures);
      this.#failures++;
      this.#failedAt = now;
      this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs * (1 - this.#random() / 2));
    }
    this.#pausedUntil = Math.max(this.#pausedUntil, now + retryAfterMs);
    return this.#pausedUntil - now;
  }

  /** Records that the ingest accepted or rejected an envelope, or rate limited it. */
  succeeded(now: number): void {
    if (!this.#isHealthy(now)) this.#healthySince = now;
    this.#acceptedAt = now;
    this.#failures = 0;
    this.#pausedUntil = 0;
  }

  /** The ingest has failed to accept each envelope in the spool once, so only a recent success counts. */
  #isHealthy(now: number): boolean {
    return this.#failures === 0 && now - this.#acceptedAt < healthyForMs;
  }
}
