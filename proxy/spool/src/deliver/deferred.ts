const maxDeferralMs = 600_000;
const maxEntries = 1_000;

/**
 * Backoff of single envelopes: an envelope that failed is deferred until all others have been tried, so that envelopes that the ingest
 * fails on cannot block the queue. In memory only: after a restart all are tried again.
 */
export class DeferredEnvelopes {
  #deferred = new Map<number, { until: number; failures: number }>();
  #failedThisRound = new Set<number>();

  /**
   * Defers an envelope until all others have been tried, and for `pauseMs`, doubled for each time it failed while the ingest was healthy.
   * During an outage every envelope fails, which says nothing about the envelope.
   */
  defer(id: number, pauseMs: number, wasIngestHealthy: boolean, now: number): void {
    const failures = (this.#deferred.get(id)?.failures ?? 0) + (wasIngestHealthy ? 1 : 0);
    for (const entries of [this.#deferred, this.#failedThisRound]) if (entries.size >= maxEntries) entries.clear();
    this.#deferred.set(id, { until: now + Math.min(maxDeferralMs, pauseMs * 2 ** failures), failures });
    this.#failedThisRound.add(id);
  }

  /** Call when all others were tried, or when the ingest accepted one. Returns whether the round before had any failure. */
  startNextRound(): boolean {
    const hadFailures = this.#failedThisRound.size > 0;
    this.#failedThisRound.clear();
    return hadFailures;
  }

  /**
   * Call when the ingest is back: frees the envelopes with at most one failure, half a second apart and within five seconds. All at
   * once, those that the ingest fails on would interrupt the others again and count against them.
   */
  ingestRecovered(now: number): void {
    const freed = [...this.#deferred.values()].filter(({ failures }) => failures <= 1);
    freed.forEach((entry, i) => {
      entry.until = now + Math.min(i, 10) * 500;
    });
  }

  /** Forgets an envelope that left its queue. */
  forget(id: number): void {
    this.#deferred.delete(id);
  }

  /** The envelopes that are deferred now. */
  ids(now: number): number[] {
    const deferred = [...this.#deferred].filter(([, { until }]) => until > now).map(([id]) => id);
    return [...this.#failedThisRound, ...deferred];
  }
}
