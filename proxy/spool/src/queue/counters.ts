import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Each is a metric, culvert_spool_<name>_total. */
export type CounterName = "accepted" | "delivered" | "dropped" | "redelivered" | "lost";

/** One counter with its labels. `reason` is empty for counters without that label. */
type Counter = { name: CounterName; reason: string; category: string; count: number };

/** Counters on disk, changed in the same transaction as the envelopes they count: they agree even after kill -9. */
export class Counters {
  #add: StatementSync;
  #all: StatementSync;

  constructor(database: DatabaseSync) {
    this.#add = database.prepare(`
      INSERT INTO counter (name, reason, category, count) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET count = count + excluded.count`);
    this.#all = database.prepare("SELECT name, reason, category, count FROM counter ORDER BY name, reason, category");
  }

  /** Adds `count`. */
  add(name: CounterName, category: string, reason = "", count = 1): void {
    this.#add.run(name, reason, category, count);
  }

  /** All counters, by name. */
  all(): Counter[] {
    return this.#all.all() as unknown as Counter[];
  }
}
