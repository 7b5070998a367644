const longest = 600_000;
const most = 1_000;

/**
 * Envelopes that are passed over for a while: after one failed, another one is tried next, so that an envelope that makes an
 * ingest stumble can't block those behind it. In memory only: after a restart all are tried anew.
 */
export class Holds {
  #held = new Map<number, { until: number; blame: number }>();

  /**
   * Passes over an envelope for `pause` ms, doubled each time that it failed while the ingest was well. In an outage every
   * envelope fails: that says nothing about any of them.
   */
  hold(id: number, pause: number, ingestWasWell: boolean, now: number): void {
    const blame = (this.#held.get(id)?.blame ?? 0) + (ingestWasWell ? 1 : 0);
    if (this.#held.size >= most) this.#held.clear();
    this.#held.set(id, { until: now + Math.min(longest, pause * 2 ** blame), blame });
  }

  /** Says that the ingest is back: whoever failed once at most is free to go. */
  relax(): void {
    for (const hold of this.#held.values()) if (hold.blame <= 1) hold.until = 0;
  }

  /** Knows nothing more of an envelope. */
  forget(id: number): void {
    this.#held.delete(id);
  }

  /** The envelopes to pass over now. */
  at(now: number): number[] {
    return [...this.#held].filter(([, { until }]) => until > now).map(([id]) => id);
  }
}
