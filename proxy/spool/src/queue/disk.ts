import type { DatabaseSync } from "node:sqlite";
import { log, logOncePerMinute } from "../log.ts";
import { describeError, isDamage } from "./database-errors.ts";
import { GroupCommit } from "./group-commit.ts";

const probe = "INSERT INTO attempt (id, ended) VALUES (-1, 1); DELETE FROM attempt WHERE id = -1";

/** Tracks whether the database can be written now: logs a change, and answers the health check. */
export class Disk {
  readonly transactions: GroupCommit;
  #database: DatabaseSync;
  #folder: string;
  #isFailing = false;

  /** `onDamage` is called when the database turns out to be damaged while in use: its contents can no longer be trusted. */
  constructor(database: DatabaseSync, folder: string, onDamage: () => void) {
    this.#database = database;
    this.#folder = folder;
    this.transactions = new GroupCommit(database, (error) => {
      if (error === undefined) return this.#succeeded();
      this.#isFailing = true;
      const [problem, fix] = describeError(error, folder);
      logOncePerMinute(problem, `${folder} ${problem}: ${fix}`);
      if (isDamage(error)) onDamage();
    });
  }

  /** Whether the last write succeeded; after a failure, tries another one. */
  async isHealthy(): Promise<boolean> {
    if (!this.#isFailing) return true;
    await this.transactions.write(() => this.#database.exec(probe)).catch(() => {});
    return !this.#isFailing;
  }

  #succeeded(): void {
    if (this.#isFailing) log(`${this.#folder} is writable again`);
    this.#isFailing = false;
  }
}
