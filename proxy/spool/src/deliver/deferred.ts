const longest = 600_000;
const most = 1_000;

/**
 * Envelopes that are passed over for a while: after one failed, all others are tried before it again, so that envelopes that
 * make an ingest stumble can't block those behind them. In memory only: after a restart all are tried anew.
 */
export class DeferredEnvelopes {
  #held = new Map<number, { until: number; blame: number }>();
  #tried = new Set<number>();

  /**
   * Passes over an envelope for `pause` ms, doubled each time that it failed while the ingest was well. In an outage every
   * envelope fails: that says nothing about any of them.
   */
  hold(id: number, pause: number, ingestWasWell: boolean, now: number): void {
    const blame = (this.#held.get(id)?.blame ?? 0) + (ingestWasWell ? 1 : 0);
    if (this.#held.size >= most) this.#held.clear();
    this.#held.set(id, { until: now + Math.min(longest, pause * 2 ** blame), blame });
  }

  /** Says that it failed: until the ingest takes one, the others go first. */
  tried(id: number): void {
    if (this.#tried.size >= most) this.#tried.clear();
    this.#tried.add(id);
  }

  /** Says that no other is left, or that the ingest took one; returns whether any had been passed over for that. */
  nextRound(): boolean {
    const any = this.#tried.size > 0;
    this.#tried.clear();
    return any;
  }

  /**
   * Says that the ingest is back: whoever failed once at most is free to go, half a second apart and within five. Together, those
   * that make it stumble would stop the rest again and share the blame.
   */
  relax(now: number): void {
    const free = [...this.#held.values()].filter(({ blame }) => blame <= 1);
    free.forEach((hold, i) => {
      hold.until = now + Math.min(i, 10) * 500;
    });
  }

  /** Knows nothing more of an envelope. */
  forget(id: number): void {
    this.#held.delete(id);
  }

  /** The envelopes to pass over now. */
  at(now: number): number[] {
    const resting = [...this.#held].filter(([, { until }]) => until > now).map(([id]) => id);
    return [...this.#tried, ...resting];
  }
}
