const shortestPause = 500;
const longestPause = 10_000;
/** An answer costs an ingest little, and may speak of one envelope only. */
const longestAnswered = 2_000;
const climb = 4_000;
const mostAtOnce = 32;
const proofLasts = 10_000;

/**
 * All times by performance.now(), which unlike the wall clock is never set. When the next envelope may go to an ingest. Until it has taken one just now: one at a time. While it fails: after pauses
 * that double up to 10 s, or 2 s while it answers, each cut by up to half at random so that many spools don't come back as one.
 * Once it is well: from a tenth of the rate to all of it within 4 s.
 */
export class Backoff {
  #rate: number;
  #random: () => number;
  #failures = 0;
  #failedAt = 0;
  #pausedUntil = 0;
  #wellSince = 0;
  #tookAt = Number.NEGATIVE_INFINITY;
  #nextAt = 0;

  constructor(rate: number, random: () => number = Math.random) {
    this.#rate = rate;
    this.#random = random;
  }

  /** How long the next one has to wait, in ms. */
  wait(now: number): number {
    return Math.max(0, this.#pausedUntil - now, this.#nextAt - now);
  }

  /** How many may be on their way at once. */
  atOnce(now: number): number {
    return this.#isProven(now) ? mostAtOnce : 1;
  }

  /** Whether the last word of the ingest was a failure. */
  get failing(): boolean {
    return this.#failures > 0;
  }

  /** Says that one goes now. */
  sent(now: number): void {
    const share = Math.min(1, 0.1 + (0.9 * (now - this.#wellSince)) / climb);
    // Timers are late by a few ms; what that cost may be caught up with, no more.
    this.#nextAt = Math.max(this.#nextAt, now - 100) + 1_000 / (this.#rate * share);
  }

  /**
   * Says that one that went at `startedAt` was not taken, whether the ingest `answered`, and that it wants a `wait` in ms. Those
   * that left together count as one. Returns the pause in ms.
   */
  failed(startedAt: number, now: number, { answered, wait }: { answered: boolean; wait: number }): number {
    if (this.#failures === 0 || startedAt >= this.#failedAt) {
      const most = Math.min(answered ? longestAnswered : longestPause, shortestPause * 2 ** this.#failures);
      this.#failures++;
      this.#failedAt = now;
      this.#pausedUntil = Math.max(this.#pausedUntil, now + most * (1 - this.#random() / 2));
    }
    this.#pausedUntil = Math.max(this.#pausedUntil, now + wait);
    return this.#pausedUntil - now;
  }

  /** Says that the ingest took one, or gave it a final answer. */
  succeeded(now: number): void {
    if (!this.#isProven(now)) this.#wellSince = now;
    this.#tookAt = now;
    this.#failures = 0;
    this.#pausedUntil = 0;
  }

  /** What the spool holds was once refused, so that an ingest is taken for well only on fresh evidence. */
  #isProven(now: number): boolean {
    return this.#failures === 0 && now - this.#tookAt < proofLasts;
  }
}
