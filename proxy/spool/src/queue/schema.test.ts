import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "vitest";
import { openDatabase } from "./database.ts";
import { prepareSchema } from "./schema.ts";
import { Store } from "./store.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "spool-"));
const destination = "http://ingest/api/1/envelope/";

/** The queues' table as version 0 creates it. */
const laneOfVersion0 = `(
      id INTEGER PRIMARY KEY,
      destination TEXT NOT NULL,
      category TEXT NOT NULL,
      turns INTEGER NOT NULL,
      envelopes INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      UNIQUE (destination, category)
    ) STRICT`;

/** A folder as version 0 left it: an error that was being delivered and a session, with their counters. */
function version0(): string {
  const folder = newFolder();
  const database = new DatabaseSync(join(folder, "spool.db"));
  const headers = JSON.stringify({
    contentType: "text/plain",
    contentEncoding: "",
    userAgent: "a",
    clientIp: "192.0.2.1",
  });
  const bytes = headers.length + 5;
  database.exec(`
    PRAGMA page_size = 16384;
    PRAGMA journal_mode = WAL;
    CREATE TABLE lane ${laneOfVersion0};
    CREATE TABLE envelope (
      id INTEGER PRIMARY KEY,
      received INTEGER NOT NULL,
      headers TEXT NOT NULL,
      body BLOB NOT NULL
    ) STRICT;
    CREATE TABLE attempt (id INTEGER PRIMARY KEY, ended INTEGER NOT NULL) STRICT;
    CREATE TABLE tally (
      name TEXT NOT NULL,
      reason TEXT NOT NULL,
      category TEXT NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (name, reason, category)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO lane VALUES (1, '${destination}', 'session', 1, 1, ${bytes}), (2, '${destination}', 'error', 7, 1, ${bytes});
    INSERT INTO envelope VALUES (${2 ** 40 + 1}, 1, '${headers}', x'0102030405'), (${2 * 2 ** 40 + 7}, 2, '${headers}', x'0607080900');
    INSERT INTO attempt VALUES (${2 * 2 ** 40 + 7}, 0);
    INSERT INTO tally VALUES
      ('accepted', '', 'error', 7), ('accepted', '', 'session', 1), ('repeated', '', 'error', 3), ('missing', 'gone', 'default', 2);`);
  database.close();
  return folder;
}

test("a database of version 0: its envelopes are delivered, and its counters go on", () => {
  const folder = version0();
  const database = openDatabase(folder);
  const store = new Store(database);
  const delivered = store.queues.nonEmpty().flatMap((queue) => store.claim(queue, { max: 10, bytes: 100, except: [] }));
  assert.deepEqual(
    delivered.map((envelope) => [envelope.category, envelope.received, [...envelope.body], envelope.redelivery]),
    [
      ["error", 2, [6, 7, 8, 9, 0], true],
      ["session", 1, [1, 2, 3, 4, 5], false],
    ],
  );
  assert.deepEqual(delivered[0]?.headers.clientIp, "192.0.2.1");
  for (const { id } of delivered) store.remove(id, "delivered");
  const counts = () => store.counters.all().map(({ name, category, count }) => `${name} ${category} ${count}`);
  const before = counts();
  assert.deepEqual(before, [
    "accepted error 7",
    "accepted session 1",
    "delivered error 1",
    "delivered session 1",
    "lost default 2",
    "redelivered error 3",
  ]);
  assert.deepEqual(store.queues.nonEmpty(), []);
  database.close();

  const again = openDatabase(folder);
  assert.deepEqual(new Store(again).counters.all().length, before.length);
  again.close();
});

test.each([
  ["a new database", newFolder],
  ["a migrated database", version0],
])("%s: the program of version 0 fails when it starts, and the envelopes stay as they are", (_, prepare) => {
  const folder = prepare();
  const before = openDatabase(folder);
  const rows = (database: DatabaseSync) =>
    ["queue", "envelope", "attempt", "counter"].map((table) => database.prepare(`SELECT * FROM ${table}`).all());
  const content = rows(before);
  before.close();

  const old = new DatabaseSync(join(folder, "spool.db"));
  // As version 0 does when it starts: its tables, then its prepared statements.
  old.exec(`
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS lane ${laneOfVersion0};
    UPDATE attempt SET ended = 1;
    COMMIT`);
  assert.throws(
    () =>
      old.prepare(`
        INSERT INTO lane (destination, category, turns, envelopes, bytes) VALUES (?, ?, 1, 1, ?)
        ON CONFLICT DO UPDATE SET turns = turns + 1, envelopes = envelopes + 1, bytes = bytes + excluded.bytes
        RETURNING id, turns`),
    /lane/,
  );
  assert.deepEqual(rows(old), content);
  old.close();
});

test("a migration that fails leaves a database of version 0 as it was", () => {
  const folder = version0();
  const dump = () => {
    const database = new DatabaseSync(join(folder, "spool.db"));
    const tables = database.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").all();
    const rows = ["lane", "envelope", "attempt", "tally"].map((name) =>
      database.prepare(`SELECT * FROM ${name}`).all(),
    );
    const version = database.prepare("PRAGMA user_version").get();
    database.close();
    return { tables, rows, version };
  };
  const damage = new DatabaseSync(join(folder, "spool.db"));
  // The second of its counters violates this when it is renamed, after the tables were.
  damage.exec("CREATE UNIQUE INDEX damage ON tally (name) WHERE name IN ('lost', 'redelivered')");
  damage.exec("INSERT INTO tally VALUES ('missing', 'set_back', 'default', 1)");
  damage.close();
  const before = dump();
  const failing = new DatabaseSync(join(folder, "spool.db"));
  assert.throws(() => prepareSchema(failing), /UNIQUE constraint failed: counter\.name/);
  failing.close();
  assert.deepEqual(dump(), before);
  assert.deepEqual({ ...before.version }, { user_version: 0 });
});

test("a database of a newer version is left as it is", () => {
  const folder = newFolder();
  const database = openDatabase(folder);
  database.exec("PRAGMA user_version = 99");
  database.close();
  assert.throws(() => openDatabase(folder), /holds a spool\.db of a newer version/);
});
