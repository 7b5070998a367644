import type { DatabaseSync, StatementSync } from "node:sqlite";

type Work = () => unknown;

interface Entry {
  work: Work;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Group commit: whatever is asked for while one fsync runs shares the next one, so that a slow disk costs latency and not
 * throughput.
 */
export class GroupCommit {
  #database: DatabaseSync;
  #onOutcome: (error: unknown) => void;
  #changes: StatementSync;
  #waiting: Entry[] = [];

  /** `onOutcome` hears how every commit went, by its error or undefined, and of what can't be read. */
  constructor(database: DatabaseSync, onOutcome: (error: unknown) => void) {
    this.#database = database;
    this.#onOutcome = onOutcome;
    this.#changes = database.prepare("SELECT total_changes() AS changes");
  }

  /** Runs `work` in a transaction and resolves with its result once that is on disk. Rejects when it is not. */
  write<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // After the requests that are readable now: they join this commit.
      if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      this.#waiting.push({ work, resolve: resolve as Entry["resolve"], reject });
    });
  }

  /** Runs `work`, which only reads; what it throws is an outcome too. */
  read<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#onOutcome(error);
      throw error;
    }
  }

  #flush(): void {
    const group = this.#waiting;
    this.#waiting = [];
    const before = this.#changes.get()?.changes;
    let error = this.#commit(group);
    if (error !== undefined && group.length > 1) {
      // One envelope too large for the disk must not take the small ones with it.
      error = group.map((entry) => this.#commit([entry])).find((each) => each !== undefined);
    }
    // A commit that wrote nothing says nothing about the disk.
    if (error !== undefined || this.#changes.get()?.changes !== before) this.#onOutcome(error);
  }

  /** Returns the error instead of throwing it; rejects an entry only when it was alone. */
  #commit(group: Entry[]): unknown {
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
