import type { DatabaseSync, StatementSync } from "node:sqlite";

type Pending = { work: () => unknown; resolve: (value: unknown) => void; reject: (error: unknown) => void };

/**
 * Group commit: everything requested during one fsync is committed together by the next one, so that a slow disk costs latency
 * and not throughput.
 */
export class GroupCommit {
  #database: DatabaseSync;
  #onResult: (error: unknown) => void;
  #changes: StatementSync;
  #pending: Pending[] = [];

  /** `onResult` is called after each commit with its error or undefined, and with the error of a failed read. */
  constructor(database: DatabaseSync, onResult: (error: unknown) => void) {
    this.#database = database;
    this.#onResult = onResult;
    this.#changes = database.prepare("SELECT total_changes() AS changes");
  }

  /** Runs `work` in a transaction and resolves with its result once that is on disk; rejects if it fails. */
  write<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // After the requests that can be read now, which then join this commit.
      if (this.#pending.length === 0) setImmediate(() => this.#flush());
      this.#pending.push({ work, resolve: resolve as Pending["resolve"], reject });
    });
  }

  /** Runs `work`, which must only read, at once. */
  read<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#onResult(error);
      throw error;
    }
  }

  #flush(): void {
    const group = this.#pending;
    this.#pending = [];
    const before = this.#changes.get()?.changes;
    let error = this.#commit(group);
    if (error !== undefined && group.length > 1) {
      // One by one: an envelope too large for the disk must not fail the smaller ones with it.
      error = group.map((entry) => this.#commit([entry])).find((each) => each !== undefined);
    }
    // A commit without changes proves nothing about the disk.
    if (error !== undefined || this.#changes.get()?.changes !== before) this.#onResult(error);
  }

  /** Returns the error instead of throwing it; rejects an entry only if it is the only one of its group. */
  #commit(group: Pending[]): unknown {
    let results: unknown[];
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      results = group.map(({ work }) => work());
      this.#database.exec("COMMIT");
    } catch (error) {
      // A full disk may have ended the transaction already.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      if (group.length === 1) group[0]?.reject(error);
      return error;
    }
    group.forEach(({ resolve }, i) => {
      resolve(results[i]);
    });
    return undefined;
  }
}
