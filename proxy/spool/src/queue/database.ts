import { accessSync, constants } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StartupError } from "../startup-error.ts";
import { damagedFix, describeError } from "./database-errors.ts";
import { prepareSchema } from "./schema.ts";

const versionFix =
  "run that version of the spool until its envelopes are delivered, or move spool.db and spool.db-wal away";

/**
 * Opens the spool's database in a folder and creates it if there is none. Throws a StartupError if it is not usable.
 * FULL: in WAL mode a commit returns after fsync (https://sqlite.org/pragma.html#pragma_synchronous). EXCLUSIVE: a second
 * spool on the same folder fails. MEMORY: the root filesystem is read-only, so a temporary file would be an I/O error.
 * Pages of 16 KB waste a tenth for small envelopes, pages of 4 KB half.
 */
export function openDatabase(folder: string): DatabaseSync {
  try {
    // SQLite reports a read-only volume as "disk I/O error".
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const database = new DatabaseSync(`${folder}/spool.db`);
    database.exec(`
      PRAGMA page_size = 16384;
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 256;
      PRAGMA journal_size_limit = 16777216;
      PRAGMA temp_store = MEMORY;
    `);
    const check = database.prepare("PRAGMA quick_check(1)").get()?.quick_check;
    if (check !== "ok") throw new StartupError(folder, `holds a damaged spool.db (${check})`, damagedFix);
    if (!prepareSchema(database)) throw new StartupError(folder, "holds a spool.db of another version", versionFix);
    return database;
  } catch (error) {
    throw error instanceof StartupError ? error : new StartupError(folder, ...describeError(error, folder));
  }
}
