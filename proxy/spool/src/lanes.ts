import type { DatabaseSync, StatementSync } from "node:sqlite";
import { worthOf } from "./worth.ts";

/** The envelopes of one category for one destination, in order of age. */
export interface Lane {
  id: number;
  destination: string;
  category: string;
  envelopes: number;
  bytes: number;
  /** When the first one arrived. */
  oldest: number;
}

const turnsInLane = 2 ** 40;

/** The keys of a lane's envelopes, both ends included. */
export function keysOf(lane: number): [first: number, last: number] {
  return [lane * turnsInLane, (lane + 1) * turnsInLane - 1];
}

/** The lane of a key. */
export function laneOf(id: number): number {
  return Math.floor(id / turnsInLane);
}

/** Who waits where. */
export class Lanes {
  #enter: StatementSync;
  #leave: StatementSync;
  #occupied: StatementSync;

  constructor(database: DatabaseSync) {
    this.#enter = database.prepare(`
      INSERT INTO lane (destination, category, turns, envelopes, bytes) VALUES (?, ?, 1, 1, ?)
      ON CONFLICT DO UPDATE SET turns = turns + 1, envelopes = envelopes + 1, bytes = bytes + excluded.bytes
      RETURNING id, turns`);
    this.#leave = database.prepare(`
      UPDATE lane SET envelopes = envelopes - 1, bytes = bytes - ? WHERE id = ? RETURNING category`);
    this.#occupied = database.prepare(`
      SELECT id, destination, category, envelopes, bytes,
        (SELECT received FROM envelope WHERE envelope.id >= lane.id * ${turnsInLane} ORDER BY envelope.id LIMIT 1) AS oldest
      FROM lane WHERE envelopes > 0`);
  }

  /** Gives an envelope of this size the next turn, and returns its key. */
  enter(destination: string, category: string, bytes: number): number {
    const { id, turns } = this.#enter.get(destination, category, bytes) as { id: number; turns: number };
    return id * turnsInLane + turns;
  }

  /** Says that the envelope with this key and size is gone; returns its category. */
  leave(id: number, bytes: number): string {
    return (this.#leave.get(bytes, laneOf(id)) as { category: string }).category;
  }

  /** How many envelopes wait for an address that is none of these: nothing delivers them until a DSN names it again. */
  undeliverable(urls: ReadonlySet<string>): number {
    const lanes = this.occupied().filter(({ destination }) => !urls.has(destination));
    return lanes.reduce((sum, { envelopes }) => sum + envelopes, 0);
  }

  /** The lanes with someone in them, the worthiest first, and among equals the one whose first has waited longest. */
  occupied(): Lane[] {
    const lanes = this.#occupied.all() as unknown as Lane[];
    return lanes.sort((a, b) => worthOf(a.category) - worthOf(b.category) || a.oldest - b.oldest);
  }
}
