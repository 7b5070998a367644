import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { log } from "../log.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Mark, Store } from "./store.ts";

/** What is accepted within this time before a kill may be lost unnoticed. */
const saveIntervalMs = 1_000;

/**
 * Logs and counts envelopes that the database has lost since the last run, because it was deleted or restored from an older copy, then
 * saves a mark beside it every second: SQLite silently creates a database that was deleted, and takes a truncated write-ahead log for a
 * shorter one. `isNew`: there was no database. Returns a function that saves the mark at once, for a clean stop.
 */
export function startLossDetection(folder: string, isNew: boolean, store: Store, transactions: GroupCommit) {
  const file = `${folder}/spool.count`;
  const saved = readMark(file);
  const lost = isNew ? saved.queued : saved.accepted - store.mark().accepted;
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
      const mark = transactions.read(() => store.mark());
      // All of it or nothing.
      writeFileSync(`${file}.new`, JSON.stringify(mark));
      renameSync(`${file}.new`, file);
    } catch {
      // watchDisk logs it.
    }
  };
  save();
  setInterval(save, saveIntervalMs).unref();
  return save;
}

/** Reads a mark; after a first start, or a crash of the machine, there may be none. */
function readMark(file: string): Mark {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Mark;
  } catch {
    return { accepted: 0, queued: 0 };
  }
}
