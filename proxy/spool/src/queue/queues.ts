import type { DatabaseSync, StatementSync } from "node:sqlite";
import { priorityOf } from "./priority.ts";

/** The envelopes of one category for one destination, oldest first: apart from the others those that are large when decompressed. */
export interface Queue {
  id: number;
  destination: string;
  category: string;
  isLarge: boolean;
  envelopes: number;
  bytes: number;
  /** When the oldest envelope was received. */
  oldest: number;
}

/** Follows the category in the database. */
const largeSuffix = " large";

const keysPerQueue = 2 ** 40;

/** The first and the last key that an envelope of this queue can have. */
export function keyRange(queue: number): [first: number, last: number] {
  return [queue * keysPerQueue, (queue + 1) * keysPerQueue - 1];
}

const queueOf = (key: number) => Math.floor(key / keysPerQueue);

/** The queues with their sums. What changes them belongs in a transaction (group-commit.ts). */
export class Queues {
  #enqueue: StatementSync;
  #dequeue: StatementSync;
  #nonEmpty: StatementSync;

  constructor(database: DatabaseSync) {
    this.#enqueue = database.prepare(`
      INSERT INTO queue (destination, category, last_sequence, envelopes, bytes) VALUES (?, ?, 1, 1, ?)
      ON CONFLICT DO UPDATE SET
        last_sequence = last_sequence + 1, envelopes = envelopes + 1, bytes = bytes + excluded.bytes
      RETURNING id, last_sequence`);
    this.#dequeue = database.prepare(`
      UPDATE queue SET envelopes = envelopes - 1, bytes = bytes - ? WHERE id = ? RETURNING category`);
    this.#nonEmpty = database.prepare(`
      SELECT id, destination, category, envelopes, bytes,
        (SELECT received FROM envelope WHERE envelope.id >= queue.id * ${keysPerQueue} ORDER BY envelope.id LIMIT 1) AS oldest
      FROM queue WHERE envelopes > 0`);
  }

  /** Adds an envelope of this size to the sums, and returns its key. */
  enqueue(destination: string, category: string, isLarge: boolean, bytes: number): number {
    const name = isLarge ? category + largeSuffix : category;
    const { id, last_sequence } = this.#enqueue.get(destination, name, bytes) as Record<string, number>;
    return Number(id) * keysPerQueue + Number(last_sequence);
  }

  /** Subtracts the envelope with this key and size from the sums; returns its category. */
  dequeue(key: number, bytes: number): string {
    return (this.#dequeue.get(bytes, queueOf(key)) as { category: string }).category.replace(largeSuffix, "");
  }

  /** How many envelopes are queued for other addresses than these: they stay until a DSN names their address again. */
  undeliverable(urls: ReadonlySet<string>): number {
    const queues = this.nonEmpty().filter(({ destination }) => !urls.has(destination));
    return queues.reduce((sum, { envelopes }) => sum + envelopes, 0);
  }

  /** The queues that are not empty: by priority, within a priority the large ones last, then by the age of their oldest envelope. */
  nonEmpty(): Queue[] {
    const rows = this.#nonEmpty.all() as unknown as Omit<Queue, "isLarge">[];
    const queues = rows.map((row) => {
      const isLarge = row.category.endsWith(largeSuffix);
      return { ...row, isLarge, category: row.category.replace(largeSuffix, "") };
    });
    const order = ({ category, isLarge }: Queue) => 2 * priorityOf(category) + Number(isLarge);
    return queues.sort((a, b) => order(a) - order(b) || a.oldest - b.oldest);
  }
}
