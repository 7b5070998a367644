import type { DatabaseSync, StatementSync } from "node:sqlite";
import { logOncePerMinute } from "../log.ts";
import { folder } from "../settings.ts";
import { priorityOf } from "./priority.ts";
import { keysOf } from "./queues.ts";
import type { NewEnvelope, Store } from "./store.ts";

const chunk = 64;
/** Left free on the disk, for the write-ahead log, for delivery to go on, and for the neighbours. */
const margin = 64 << 20;
/** Of a file that has become empty, no more than this is kept from the disk. */
const emptyFile = 16 << 20;

const boundLine = "SPOOL_MAX_MB is reached: what is worth less makes room, the rest is refused; is the ingest down?";
const diskLine = `the disk under ${folder} has 64 MB left: as with SPOOL_MAX_MB; free space there, or lower it`;

/** What the database takes on disk, in bytes: pages in use, and pages in its file that are free for reuse. */
export interface Pages {
  used: number;
  spare: number;
  page: number;
}

const fits = (missing: { SPOOL_MAX_MB: number; disk: number }) => missing.SPOOL_MAX_MB <= 0 && missing.disk <= 0;

/** Keeps the spool within its eviction of size and age. What changes envelopes belongs inside a transaction (group-commit.ts). */
export class Eviction {
  #database: DatabaseSync;
  #store: Store;
  #maxBytes: number;
  #diskFree: () => number;
  #pages: StatementSync;
  #first: StatementSync;

  /** `diskFree` returns the bytes that the disk has left. */
  constructor(database: DatabaseSync, store: Store, maxBytes: number, diskFree: () => number) {
    this.#database = database;
    this.#store = store;
    this.#maxBytes = maxBytes;
    this.#diskFree = diskFree;
    this.#pages = database.prepare(`
      SELECT (page_count - freelist_count) * page_size AS used, freelist_count * page_size AS spare, page_size AS page
      FROM pragma_page_count, pragma_freelist_count, pragma_page_size`);
    // Those on their way stay: an ingest may be about to log yes.
    this.#first = database.prepare(`
      SELECT id, received FROM envelope
      WHERE id BETWEEN ? AND ? AND id NOT IN (SELECT id FROM attempt WHERE ended = 0)
      ORDER BY id LIMIT ${chunk}`);
  }

  /** What the database takes on disk. */
  pages(): Pages {
    return this.#pages.get() as unknown as Pages;
  }

  /**
   * Makes room for an envelope by dropping what is worth less, the least worthy first, then the oldest. Returns what is
   * full when that is not enough, else undefined: what was accepted is never dropped for what is worth no more, because
   * its sender can still keep it.
   */
  makeSpace({ category, body }: NewEnvelope): "SPOOL_MAX_MB" | "disk" | undefined {
    const disk = Math.max(0, this.#diskFree() - margin);
    const missing = () => {
      const { used, spare, page } = this.pages();
      const size = body.length + 3 * page;
      return { SPOOL_MAX_MB: used + size - this.#maxBytes, disk: size - spare - disk };
    };
    const need = missing();
    if (fits(need)) return undefined;
    const full = need.SPOOL_MAX_MB > 0 ? "SPOOL_MAX_MB" : "disk";
    logOncePerMinute(full, full === "disk" ? diskLine : boundLine);
    const lower = this.#store.queues.occupied().filter((queue) => priorityOf(queue.category) > priorityOf(category));
    if (lower.reduce((sum, { bytes }) => sum + bytes, 0) < need[full]) return full;
    for (const queue of lower.reverse()) {
      for (const { id } of this.#fromOldest(queue.id)) {
        this.#store.remove(id, "dropped", "full");
        if (fits(missing())) return undefined;
      }
    }
    return full;
  }

  /** When the first of all that wait arrived; Infinity when nothing waits. */
  oldest(): number {
    return Math.min(...this.#store.queues.occupied().map(({ oldest }) => oldest));
  }

  /** Gives the disk back what an outage took, once nothing waits. Belongs outside a transaction. */
  shrink(): void {
    const { used, spare } = this.pages();
    if (used + spare > emptyFile && this.#store.queues.occupied().length === 0) {
      this.#database.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    }
  }

  /** Drops what arrived before this time, `most` of them at once; returns how many went. */
  expire(before: number, most: number): number {
    let gone = 0;
    for (const queue of this.#store.queues.occupied()) {
      for (const { id, received } of this.#fromOldest(queue.id)) {
        if (received >= before) break;
        if (gone === most) return gone;
        this.#store.remove(id, "dropped", "age");
        gone++;
      }
    }
    return gone;
  }

  /** A queue's envelopes; whoever goes through them removes each before asking for the next. */
  *#fromOldest(queue: number): Generator<{ id: number; received: number }> {
    for (;;) {
      const rows = this.#first.all(...keysOf(queue)) as { id: number; received: number }[];
      if (rows.length === 0) return;
      yield* rows;
    }
  }
}
