import type { DatabaseSync } from "node:sqlite";

type Pending = { work: () => unknown; resolve: (value: never) => void; reject: (error: unknown) => void };

/**
 * Group commit: everything requested during one fsync is committed together by the next one, so that a slow disk costs latency
 * and not throughput.
 */
export class GroupCommit {
  #database: DatabaseSync;
  #onError: (error: unknown) => void;
  #pending: Pending[] = [];

  /** `onError` is called with the error of a failed commit or read. */
  constructor(database: DatabaseSync, onError: (error: unknown) => void) {
    this.#database = database;
    this.#onError = onError;
  }

  /** Runs `work` in a transaction and resolves with its result once that is on disk; rejects if it, or another one of the commit, fails. */
  write<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // After the requests that can be read now, which then join this commit.
      if (this.#pending.length === 0) setImmediate(() => this.#commit());
      this.#pending.push({ work, resolve, reject });
    });
  }

  /** Runs `work`, which must only read, at once. */
  read<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#onError(error);
      throw error;
    }
  }

  #commit(): void {
    const group = this.#pending;
    this.#pending = [];
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      const results = group.map(({ work }) => work());
      this.#database.exec("COMMIT");
      group.forEach(({ resolve }, i) => {
        resolve(results[i] as never);
      });
    } catch (error) {
      // A full disk may have ended the transaction already.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      for (const { reject } of group) reject(error);
      this.#onError(error);
    }
  }
}
