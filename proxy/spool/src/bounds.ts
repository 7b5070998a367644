import type { DatabaseSync, StatementSync } from "node:sqlite";
import { keysOf } from "./lanes.ts";
import type { Arrival, Store } from "./store.ts";
import { worthOf } from "./worth.ts";

const chunk = 64;

/** Keeps the spool within its bounds of size and age. What changes envelopes belongs inside a transaction (journal.ts). */
export class Bounds {
  #store: Store;
  #maxBytes: number;
  #pages: StatementSync;
  #oldest: StatementSync;

  constructor(database: DatabaseSync, store: Store, maxBytes: number) {
    this.#store = store;
    this.#maxBytes = maxBytes;
    this.#pages = database.prepare(`
      SELECT (page_count - freelist_count) * page_size AS used, page_size
      FROM pragma_page_count, pragma_freelist_count, pragma_page_size`);
    // Those on their way stay: an ingest may be about to say yes.
    this.#oldest = database.prepare(`
      SELECT id, received FROM envelope
      WHERE id BETWEEN ? AND ? AND id NOT IN (SELECT id FROM attempt WHERE ended = 0)
      ORDER BY id LIMIT ${chunk}`);
  }

  /** The bytes that the database uses on disk, and its page size. Pages that are free for reuse don't count. */
  pages(): { used: number; page_size: number } {
    return this.#pages.get() as { used: number; page_size: number };
  }

  /**
   * Makes room for an envelope by dropping what is worth less, the least worthy first, then the oldest. Returns false when
   * that is not enough: what was accepted is never dropped for what is worth no more, because its sender can still keep it.
   */
  makeRoom({ category, body }: Arrival): boolean {
    const { page_size } = this.pages();
    const missing = () => this.pages().used + body.length + 3 * page_size - this.#maxBytes;
    const need = missing();
    if (need <= 0) return true;
    const lower = this.#store.lanes.occupied().filter((lane) => worthOf(lane.category) > worthOf(category));
    if (lower.reduce((sum, { bytes }) => sum + bytes, 0) < need) return false;
    for (const lane of lower.reverse()) {
      for (const { id } of this.#fromOldest(lane.id)) {
        this.#store.remove(id, "dropped", "full");
        if (missing() <= 0) return true;
      }
    }
    return false;
  }

  /** Drops what arrived before this time, `most` of them at once; returns how many went. */
  expire(before: number, most: number): number {
    let gone = 0;
    for (const lane of this.#store.lanes.occupied()) {
      for (const { id, received } of this.#fromOldest(lane.id)) {
        if (received >= before) break;
        if (gone === most) return gone;
        this.#store.remove(id, "dropped", "age");
        gone++;
      }
    }
    return gone;
  }

  /** A lane's envelopes; whoever goes through them removes each before asking for the next. */
  *#fromOldest(lane: number): Generator<{ id: number; received: number }> {
    for (;;) {
      const rows = this.#oldest.all(...keysOf(lane)) as { id: number; received: number }[];
      if (rows.length === 0) return;
      yield* rows;
    }
  }
}
