import type { DatabaseSync, StatementSync } from "node:sqlite";
import { logOncePerMinute } from "../log.ts";
import { folder } from "../settings.ts";
import { priorityOf } from "./priority.ts";
import { keyRange } from "./queues.ts";
import type { NewEnvelope, Store } from "./store.ts";

const batchSize = 64;
const megabyte = 1 << 20;
/** Left free on the disk: for the write-ahead log, so that delivery can go on, and for other programs. */
const minFreeDiskBytes = 64 * megabyte;

const sizeLine = "SPOOL_MAX_MB is reached: lower priorities are evicted, all else is rejected; is the ingest down?";
const diskLine = (free: number) =>
  `the disk under ${folder} is full: ${Math.floor(free / megabyte)} MB are free, ${minFreeDiskBytes / megabyte} MB of any disk stay unused. Lower priorities are evicted, all else is rejected: free space there`;

const fits = (missing: { SPOOL_MAX_MB: number; disk: number }) => missing.SPOOL_MAX_MB <= 0 && missing.disk <= 0;

/** Keeps the queues within their limits of size and age. What changes envelopes belongs in a transaction (group-commit.ts). */
export class Eviction {
  #store: Store;
  readonly maxBytes: number;
  #free: () => number;
  #pages: StatementSync;
  #oldest: StatementSync;

  constructor(database: DatabaseSync, store: Store, maxBytes: number, freeDiskBytes: () => number) {
    this.#store = store;
    this.maxBytes = maxBytes;
    this.#free = freeDiskBytes;
    this.#pages = database.prepare(`
      SELECT (page_count - freelist_count) * page_size AS used, freelist_count * page_size AS spare, page_size AS page
      FROM pragma_page_count, pragma_freelist_count, pragma_page_size`);
    // Envelopes that are being delivered stay: the ingest may be about to accept them.
    this.#oldest = database.prepare(`
      SELECT id, received FROM envelope
      WHERE id BETWEEN ? AND ? AND id NOT IN (SELECT id FROM attempt WHERE ended = 0)
      ORDER BY id LIMIT ${batchSize}`);
  }

  /** What more the queues may take of the disk, in bytes: free pages of the database's file, which never shrinks, and free space. */
  freeDiskBytes(): number {
    return this.pages().spare + this.#unreservedBytes();
  }

  #unreservedBytes(): number {
    return Math.max(0, this.#free() - minFreeDiskBytes);
  }

  /** What the database takes on disk, in bytes: pages in use, free pages in its file, and one page. */
  pages() {
    return this.#pages.get() as { used: number; spare: number; page: number };
  }

  /**
   * Makes space for an envelope by evicting envelopes of lower priority: lowest priority first, oldest first in each queue. Returns
   * what is full if that is not enough, else undefined. An accepted envelope is never evicted for one of the same priority: the
   * sender of the new one can still keep it.
   */
  makeSpaceFor({ category, body }: NewEnvelope): "SPOOL_MAX_MB" | "disk" | undefined {
    const disk = this.#unreservedBytes();
    const missing = () => {
      const { used, spare, page } = this.pages();
      const size = body.length + 3 * page;
      return { SPOOL_MAX_MB: used + size - this.maxBytes, disk: size - spare - disk };
    };
    const need = missing();
    if (fits(need)) return undefined;
    const full = need.SPOOL_MAX_MB > 0 ? "SPOOL_MAX_MB" : "disk";
    logOncePerMinute(full, full === "disk" ? diskLine(this.#free()) : sizeLine);
    const lower = this.#store.queues.nonEmpty().filter((queue) => priorityOf(queue.category) > priorityOf(category));
    if (lower.reduce((sum, { bytes }) => sum + bytes, 0) < need[full]) return full;
    for (const queue of lower.reverse()) {
      for (const { id } of this.#fromOldest(queue.id)) {
        this.#store.remove(id, "dropped", "full");
        if (fits(missing())) return undefined;
      }
    }
    return full;
  }

  /** Drops envelopes received before this time, at most `max` in one call; returns how many. */
  expire(before: number, max: number): number {
    let dropped = 0;
    for (const queue of this.#store.queues.nonEmpty()) {
      for (const { id, received } of this.#fromOldest(queue.id)) {
        if (received >= before) break;
        if (dropped === max) return dropped;
        this.#store.remove(id, "dropped", "age");
        dropped++;
      }
    }
    return dropped;
  }

  /** The envelopes of a queue. The caller must remove each one before it asks for the next. */
  *#fromOldest(queue: number): Generator<{ id: number; received: number }> {
    for (;;) {
      const rows = this.#oldest.all(...keyRange(queue)) as { id: number; received: number }[];
      if (rows.length === 0) return;
      yield* rows;
    }
  }
}
