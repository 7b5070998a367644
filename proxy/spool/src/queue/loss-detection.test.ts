import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { openDatabase } from "./database.ts";
import { lostEnvelopes, saveMark } from "./loss-detection.ts";
import { Store } from "./store.ts";

const headers = {};
const envelope = { destination: "http://a/", category: "error", received: 0, headers, body: Buffer.from("x") };
const newFolder = () => mkdtempSync(join(tmpdir(), "spool-"));

/** A folder after a kill with three queued envelopes, the last two in the write-ahead log only. */
function killed(): string {
  const [from, to] = [newFolder(), newFolder()];
  const database = openDatabase(from);
  const store = new Store(database);
  store.add(envelope);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  store.add(envelope);
  store.add(envelope);
  saveMark(from, store.mark());
  for (const file of ["spool.db", "spool.db-wal", "spool.count"]) copyFileSync(join(from, file), join(to, file));
  database.close();
  return to;
}

function lost(folder: string, isNew = false): number {
  const database = openDatabase(folder);
  const found = lostEnvelopes(folder, new Store(database).mark(), isNew);
  database.close();
  return found;
}

test("after a kill nothing is lost", () => assert.equal(lost(killed()), 0));
test("a first start has lost nothing", () => assert.equal(lost(newFolder(), true), 0));
test("a truncated write-ahead log is detected", () => {
  const folder = killed();
  truncateSync(join(folder, "spool.db-wal"), 100);
  assert.equal(lost(folder), 2);
});
test("an unreadable mark is ignored", () => {
  const folder = killed();
  truncateSync(join(folder, "spool.count"), 3);
  truncateSync(join(folder, "spool.db-wal"), 0);
  assert.equal(lost(folder), 0);
});
