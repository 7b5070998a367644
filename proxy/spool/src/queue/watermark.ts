import { readFileSync, renameSync, writeFileSync } from "node:fs";

/** Envelopes accepted since the volume was created, and how many of them are queued. */
export interface Mark {
  accepted: number;
  queued: number;
}

const fileName = "spool.count";

/**
 * A high-water mark in a file beside the database, by which the next start detects a database that was deleted or restored from
 * an older copy: SQLite silently creates a new one, and treats a truncated write-ahead log as a shorter one.
 */
export class Watermark {
  #file: string;
  #saved = "";

  constructor(folder: string) {
    this.#file = `${folder}/${fileName}`;
  }

  /** How many envelopes, at least, the opened database has lost. 0 if all are there, or if no mark was ever saved. */
  lost({ accepted }: Mark, isNew: boolean): number {
    const saved = this.#read();
    return isNew ? saved.queued : Math.max(0, saved.accepted - accepted);
  }

  /** Saves a mark. Ignores a failing disk, which GroupCommit reports. */
  save(mark: Mark): void {
    const text = JSON.stringify(mark);
    if (text === this.#saved) return;
    try {
      writeFileSync(`${this.#file}.new`, text);
      renameSync(`${this.#file}.new`, this.#file);
      this.#saved = text;
    } catch {}
  }

  #read(): Mark {
    try {
      const { accepted, queued } = JSON.parse(readFileSync(this.#file, "utf8"));
      return { accepted: Number(accepted) || 0, queued: Number(queued) || 0 };
    } catch {
      return { accepted: 0, queued: 0 };
    }
  }
}
