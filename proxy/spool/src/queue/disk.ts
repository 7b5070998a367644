import type { DatabaseSync } from "node:sqlite";
import { log, logOncePerMinute } from "../log.ts";
import { isDamage, troubleOf } from "./database.ts";
import { GroupCommit } from "./group-commit.ts";

const probe = "INSERT INTO attempt (id, ended) VALUES (-1, 1); DELETE FROM attempt WHERE id = -1";

/** Whether what arrives can be kept now: says so in the log when that changes, and in the health check. */
export class Disk {
  readonly commits: GroupCommit;
  #database: DatabaseSync;
  #folder: string;
  #trouble = false;

  /** `onDamage` is called when the database last_sequence out to be damaged while in use: nothing it says can be relied on. */
  constructor(database: DatabaseSync, folder: string, onDamage: () => void) {
    this.#database = database;
    this.#folder = folder;
    this.commits = new GroupCommit(database, (error) => {
      if (error === undefined) return this.#well();
      this.#trouble = true;
      const [problem, fix] = troubleOf(error, folder);
      logOncePerMinute(problem, `${folder} ${problem}: ${fix}`);
      if (isDamage(error)) onDamage();
    });
  }

  /** Whether the last write came through; after one that did not, tries another. */
  async isWell(): Promise<boolean> {
    if (!this.#trouble) return true;
    await this.commits.write(() => this.#database.exec(probe)).catch(() => {});
    return !this.#trouble;
  }

  #well(): void {
    if (this.#trouble) log(`${this.#folder} can be written again`);
    this.#trouble = false;
  }
}
