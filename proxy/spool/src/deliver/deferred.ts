const maxDeferralMs = 600_000;
const maxEntries = 1_000;

/**
 * Backoff of single envelopes, so that envelopes that the ingest fails on cannot block the queue. In memory only: after a restart all are
 * tried again.
 */
export class DeferredEnvelopes {
  #deferred = new Map<number, { until: number; failures: number }>();

  /**
   * Defers an envelope that failed while the ingest was healthy, for `pauseMs` doubled for each time. During an outage every envelope
   * fails, which says nothing about the envelope: it is deferred until `retry`.
   */
  defer(id: number, pauseMs: number, wasIngestHealthy: boolean, now: number): void {
    const failures = (this.#deferred.get(id)?.failures ?? 0) + (wasIngestHealthy ? 1 : 0);
    const until = wasIngestHealthy ? now + Math.min(maxDeferralMs, pauseMs * 2 ** failures) : Number.POSITIVE_INFINITY;
    if (this.#deferred.size >= maxEntries) this.#deferred.clear();
    this.#deferred.set(id, { until, failures });
  }

  /** Call when all others were tried, or when the ingest accepted one. Frees those that failed in an outage; returns whether there were any. */
  retry(): boolean {
    const failed = [...this.#deferred.values()].filter(({ until }) => until === Number.POSITIVE_INFINITY);
    for (const entry of failed) entry.until = 0;
    return failed.length > 0;
  }

  /** Forgets an envelope that left its queue. */
  forget(id: number): void {
    this.#deferred.delete(id);
  }

  /** The envelopes that are deferred now. */
  ids(now: number): number[] {
    return [...this.#deferred].filter(([, { until }]) => until > now).map(([id]) => id);
  }
}
