import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { StartupError } from "../startup-error.ts";
import { openDatabase } from "./database.ts";
import { openStore } from "./store.fixture.ts";

const count = 20;
const body = (i: number) => Buffer.alloc(2_000, `envelope ${i} `);

function filled(): string {
  const { store, newEnvelope, database, folder } = openStore();
  for (let i = 0; i < count; i++) store.add({ ...newEnvelope("error"), body: body(i) });
  database.close();
  return folder;
}

function deliverAll(folder: string) {
  const { store, database, counts, first } = openStore(folder);
  const expected = Array.from({ length: count }, (_, i) => `${body(i)}`);
  let delivered = 0;
  for (let found = first(50); found.length > 0; found = first(50))
    for (const envelope of found) {
      assert.ok(expected.includes(`${envelope.body}`));
      store.remove(envelope.id, "delivered");
      delivered++;
    }
  const result = { delivered, dropped: counts()["dropped damaged error"] };
  database.close();
  return result;
}

test("no single flipped bit of the file leads to a changed body", () => {
  const file = readFileSync(join(filled(), "spool.db"));
  const flips = 60;
  let dropped = 0;
  for (let i = 0; i < flips; i++) {
    const folder = mkdtempSync(join(tmpdir(), "spool-"));
    const damaged = Buffer.from(file);
    const at = Math.floor(((i + 0.5) * file.length) / flips);
    damaged.writeUInt8(file.readUInt8(at) ^ (1 << (i % 8)), at);
    writeFileSync(join(folder, "spool.db"), damaged);
    try {
      const result = deliverAll(folder);
      // The others of its queue are delivered.
      if (result.dropped === 1) assert.equal(result.delivered, count - 1);
      dropped += result.dropped ?? 0;
    } catch (error) {
      // What SQLite notices stops the spool: when it starts, or when it reads the page.
      const isDamage = error instanceof StartupError || (error as { errcode?: number }).errcode === 11;
      assert.ok(isDamage, `byte ${at}: ${error}`);
    }
  }
  assert.ok(dropped > 10);
});

test("a database of another version is left as it is", () => {
  const { database, folder } = openStore();
  database.exec("PRAGMA user_version = 99");
  database.close();
  const before = readFileSync(join(folder, "spool.db"));
  assert.throws(() => openDatabase(folder), /holds a spool\.db of another version/);
  assert.deepEqual(readFileSync(join(folder, "spool.db")), before);
});
