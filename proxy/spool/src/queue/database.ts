import { accessSync, constants, readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StartupError } from "../startup-error.ts";
import { prepareSchema } from "./schema.ts";

/**
 * Opens the spool's database in a folder, made anew where there is none. Throws a StartupError when that can't be relied on.
 * FULL: in WAL mode a commit returns after fsync (https://sqlite.org/pragma.html#pragma_synchronous). EXCLUSIVE: a second
 * spool on the same folder is refused. MEMORY: the root filesystem is read-only, and a temporary file would be an I/O
 * error. Pages of 16 KB hold small envelopes with a tenth of waste, where 4 KB lose half.
 */
export function openDatabase(folder: string): DatabaseSync {
  if (!isWritable(folder)) throw new StartupError(folder, ...unwritable());
  try {
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
    const found = database.prepare("PRAGMA quick_check(1)").get()?.quick_check;
    if (found !== "ok") throw new StartupError(folder, `holds a damaged spool.db (${found})`, damagedFix);
    if (!prepareSchema(database)) throw new StartupError(folder, "holds a spool.db of a newer version", newerFix);
    return database;
  } catch (error) {
    throw error instanceof StartupError ? error : new StartupError(folder, ...troubleOf(error, folder));
  }
}

/** Asked before SQLite is, whose word for a volume that is read-only is "disk I/O error". */
function isWritable(folder: string): boolean {
  const { R_OK, W_OK, X_OK } = constants;
  try {
    accessSync(folder, R_OK | W_OK | X_OK);
    // Its own files, and no copy of them that somebody has put there.
    for (const name of readdirSync(folder))
      if (/^spool\.db(-wal|-shm)?$/.test(name)) accessSync(`${folder}/${name}`, R_OK | W_OK);
    return true;
  } catch {
    return false;
  }
}

const unwritable = (): [problem: string, fix: string] => [
  "can't be written",
  `mount a volume there that uid ${process.getuid?.()} may write`,
];

/** Whether an error of the database means that it can't go on with this file. */
export function isDamage(error: unknown): boolean {
  return [11, 26].includes(primaryCode(error));
}

const damagedFix = "move spool.db and spool.db-wal away and restart; what they held was not delivered";

const newerFix =
  "run that version of the spool until its envelopes are delivered, or move spool.db and spool.db-wal away";

/** Puts an error of the database into words: problem and fix. Codes: https://sqlite.org/rescode.html */
export function troubleOf(error: unknown, folder: string): [problem: string, fix: string] {
  const message = (error as Error).message;
  switch (primaryCode(error)) {
    case 5:
      return ["is in use by another spool", "give each spool a volume of its own"];
    case 8:
    case 14:
      return unwritable();
    case 11:
    case 26:
      return [`holds a damaged spool.db (${message})`, damagedFix];
    case 13:
      return ["is on a full disk", "free space there, or lower SPOOL_MAX_MB"];
    default:
      return [
        `fails (${message}, SQLite code ${(error as { errcode?: number }).errcode})`,
        `look at the disk under ${folder}`,
      ];
  }
}

const primaryCode = (error: unknown) => Number((error as { errcode?: number }).errcode) & 0xff;
