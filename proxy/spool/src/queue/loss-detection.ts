import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { log } from "../log.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Mark, Store } from "./store.ts";

/** What is accepted within this time before a kill may be lost unnoticed. */
const saveIntervalMs = 1_000;

/** Beside the database: SQLite silently creates a database that was deleted, and takes a truncated write-ahead log for a shorter one. */
const fileIn = (folder: string) => `${folder}/spool.count`;

/** How many envelopes, at least, the opened database has lost since `saveMark`. `isNew`: there was no database. */
export function lostEnvelopes(folder: string, { accepted }: Mark, isNew: boolean): number {
  try {
    const saved = JSON.parse(readFileSync(fileIn(folder), "utf8")) as Mark;
    return isNew ? saved.queued : Math.max(0, saved.accepted - accepted);
  } catch {
    return 0;
  }
}

/** Saves a high-water mark, all of it or nothing. */
export function saveMark(folder: string, mark: Mark): void {
  writeFileSync(`${fileIn(folder)}.new`, JSON.stringify(mark));
  renameSync(`${fileIn(folder)}.new`, fileIn(folder));
}

/**
 * Logs and counts envelopes that the database has lost since the last run, because it was deleted or restored from an older copy, then
 * saves the mark every second. Returns a function that saves it at once, for a clean stop.
 */
export function startLossDetection(folder: string, isNew: boolean, store: Store, transactions: GroupCommit) {
  const lost = lostEnvelopes(folder, store.mark(), isNew);
  if (lost > 0) {
    const problem = isNew
      ? "has lost its spool.db"
      : "holds a spool.db that was set back, or whose write-ahead log was truncated";
    const fix = "restore the volume if you can, the spool continues without them";
    log(`${folder} ${problem}: ${lost} envelopes are lost; ${fix}`);
    const reason = isNew ? "gone" : "set_back";
    // A failure has been reported; a full disk is no reason not to start.
    transactions.write(() => store.counters.add("lost", "default", reason, lost)).catch(() => {});
  }
  const save = () => {
    try {
      saveMark(
        folder,
        transactions.read(() => store.mark()),
      );
    } catch {
      // Disk reports it.
    }
  };
  save();
  setInterval(save, saveIntervalMs).unref();
  return save;
}
