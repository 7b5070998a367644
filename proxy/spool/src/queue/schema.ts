import type { DatabaseSync } from "node:sqlite";

/** The version that this code writes, in SQLite's `user_version`; 0 is a new database or one from before versions. */
const version = 1;

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
  -- The program of version 0 does not check user_version. This takes the name of its table: it fails when it starts, instead of
  -- adding tables and envelopes of its own.
  CREATE VIEW IF NOT EXISTS lane AS SELECT 'spool.db is of a newer version' AS problem;
`;

/** Version 0 had other names for the same tables. */
const fromVersion0 = `
  ALTER TABLE lane RENAME TO queue;
  ALTER TABLE queue RENAME COLUMN turns TO last_sequence;
  ALTER TABLE tally RENAME TO counter;
  UPDATE counter SET name = 'redelivered' WHERE name = 'repeated';
  UPDATE counter SET name = 'lost' WHERE name = 'missing';
`;

/**
 * Creates the tables, or migrates those of an older version with their envelopes; ends attempts that a crash interrupted. All in
 * one transaction. Returns false, and changes nothing, if a newer version of the spool has written the database.
 */
export function prepareSchema(database: DatabaseSync): boolean {
  const found = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  if (found > version) return false;
  const isVersion0 =
    found === 0 && database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'lane' AND type = 'table'").get();
  database.exec(`
    BEGIN IMMEDIATE;
    ${isVersion0 ? fromVersion0 : ""}
    ${tables}
    UPDATE attempt SET ended = 1;
    PRAGMA user_version = ${version};
    COMMIT`);
  return true;
}
