import { readFileSync, renameSync, writeFileSync } from "node:fs";

/** How far the spool has come: envelopes accepted since its volume was made, and how many of them wait. */
export interface Mark {
  accepted: number;
  waiting: number;
}

const name = "spool.count";

/**
 * A count beside the database, by which the next start sees that the database is gone or set back: SQLite makes a new one without
 * a word, and takes a truncated write-ahead log for a complete one. What it says was on disk before.
 */
export class Watermark {
  #file: string;
  #kept = "";

  constructor(folder: string) {
    this.#file = `${folder}/${name}`;
  }

  /** How many envelopes the database at hand no longer knows of, at least; 0 when all is well, or nothing was ever noted. */
  missing({ accepted }: Mark, isNew: boolean): number {
    const before = this.#read();
    return isNew ? before.waiting : Math.max(0, before.accepted - accepted);
  }

  /** Notes a mark. A disk that takes nothing has been spoken of where it was written to. */
  keep(mark: Mark): void {
    const text = JSON.stringify(mark);
    if (text === this.#kept) return;
    try {
      writeFileSync(`${this.#file}.new`, text);
      renameSync(`${this.#file}.new`, this.#file);
      this.#kept = text;
    } catch {}
  }

  #read(): Mark {
    try {
      const { accepted, waiting } = JSON.parse(readFileSync(this.#file, "utf8"));
      return { accepted: Number(accepted) || 0, waiting: Number(waiting) || 0 };
    } catch {
      return { accepted: 0, waiting: 0 };
    }
  }
}
