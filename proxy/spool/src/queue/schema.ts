import type { DatabaseSync } from "node:sqlite";

/** The version of these tables, in SQLite's `user_version`; 0 is a new database. */
const version = 2;

const tables = `
  -- One queue for each destination and category. The sums change in the same transaction as the envelopes.
  CREATE TABLE IF NOT EXISTS queue (
    id INTEGER PRIMARY KEY,
    destination TEXT NOT NULL,
    category TEXT NOT NULL,
    last_sequence INTEGER NOT NULL,
    envelopes INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    UNIQUE (destination, category)
  ) STRICT;
  -- The key is made of queue and sequence number: the envelopes of a queue are stored together, oldest first, so that removing
  -- them frees whole pages.
  CREATE TABLE IF NOT EXISTS envelope (
    id INTEGER PRIMARY KEY,
    received INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    headers TEXT NOT NULL,
    body BLOB NOT NULL
  ) STRICT;
  -- Delivery attempts whose result is not known. ended: the attempt is over, by a crash or a timeout.
  CREATE TABLE IF NOT EXISTS attempt (id INTEGER PRIMARY KEY, ended INTEGER NOT NULL) STRICT;
  -- Counters that survive a restart.
  CREATE TABLE IF NOT EXISTS counter (
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    category TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (name, reason, category)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * Creates the tables, and ends attempts that a crash interrupted, in one transaction. Returns false, and changes nothing, if another
 * version of the spool has written the database.
 */
export function prepareSchema(database: DatabaseSync): boolean {
  const found = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  if (found !== 0 && found !== version) return false;
  database.exec(`BEGIN IMMEDIATE; ${tables} UPDATE attempt SET ended = 1; PRAGMA user_version = ${version}; COMMIT`);
  return true;
}
