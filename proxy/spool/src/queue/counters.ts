import type { DatabaseSync, StatementSync } from "node:sqlite";

/** What is counted; each becomes a metric. */
export type CounterName = "accepted" | "delivered" | "dropped" | "redelivered" | "lost";

/** One counter. `reason` is empty where there is only one. */
export interface Counter {
  name: CounterName;
  reason: string;
  category: string;
  count: number;
}

/** Counters on disk, changed in the transaction of what they count: not even kill -9 makes them disagree. */
export class Counters {
  #add: StatementSync;
  #all: StatementSync;

  constructor(database: DatabaseSync) {
    this.#add = database.prepare(`
      INSERT INTO counter (name, reason, category, count) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET count = count + excluded.count`);
    this.#all = database.prepare("SELECT name, reason, category, count FROM counter ORDER BY name, reason, category");
  }

  /** Adds one, or several. */
  add(name: CounterName, category: string, reason = "", count = 1): void {
    this.#add.run(name, reason, category, count);
  }

  /** All counters, by name. */
  all(): Counter[] {
    return this.#all.all() as unknown as Counter[];
  }
}
