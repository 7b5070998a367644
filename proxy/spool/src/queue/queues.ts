import type { DatabaseSync, StatementSync } from "node:sqlite";
import { priorityOf } from "./priority.ts";

/** The envelopes of one category for one destination, in order of age. */
export interface Queue {
  id: number;
  destination: string;
  category: string;
  envelopes: number;
  bytes: number;
  /** When the first one arrived. */
  oldest: number;
}

const keysPerQueue = 2 ** 40;

/** The keys of a queue's envelopes, both ends included. */
export function keysOf(queue: number): [first: number, last: number] {
  return [queue * keysPerQueue, (queue + 1) * keysPerQueue - 1];
}

/** The queue of a key. */
export function queueOf(id: number): number {
  return Math.floor(id / keysPerQueue);
}

/** Who waits where. */
export class Queues {
  #enter: StatementSync;
  #leave: StatementSync;
  #occupied: StatementSync;

  constructor(database: DatabaseSync) {
    this.#enter = database.prepare(`
      INSERT INTO queue (destination, category, last_sequence, envelopes, bytes) VALUES (?, ?, 1, 1, ?)
      ON CONFLICT DO UPDATE SET last_sequence = last_sequence + 1, envelopes = envelopes + 1, bytes = bytes + excluded.bytes
      RETURNING id, last_sequence`);
    this.#leave = database.prepare(`
      UPDATE queue SET envelopes = envelopes - 1, bytes = bytes - ? WHERE id = ? RETURNING category`);
    this.#occupied = database.prepare(`
      SELECT id, destination, category, envelopes, bytes,
        (SELECT received FROM envelope WHERE envelope.id >= queue.id * ${keysPerQueue} ORDER BY envelope.id LIMIT 1) AS oldest
      FROM queue WHERE envelopes > 0`);
  }

  /** Gives an envelope of this size the next turn, and returns its key. */
  enter(destination: string, category: string, bytes: number): number {
    const { id, last_sequence } = this.#enter.get(destination, category, bytes) as {
      id: number;
      last_sequence: number;
    };
    return id * keysPerQueue + last_sequence;
  }

  /** Says that the envelope with this key and size is gone; returns its category. */
  leave(id: number, bytes: number): string {
    return (this.#leave.get(bytes, queueOf(id)) as { category: string }).category;
  }

  /** How many envelopes wait for an address that is none of these: nothing delivers them until a DSN names it again. */
  undeliverable(urls: ReadonlySet<string>): number {
    const queues = this.occupied().filter(({ destination }) => !urls.has(destination));
    return queues.reduce((sum, { envelopes }) => sum + envelopes, 0);
  }

  /** The queues with someone in them, the worthiest first, and among equals the one whose first has waited longest. */
  occupied(): Queue[] {
    const queues = this.#occupied.all() as unknown as Queue[];
    return queues.sort((a, b) => priorityOf(a.category) - priorityOf(b.category) || a.oldest - b.oldest);
  }
}
