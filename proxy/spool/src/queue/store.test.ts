import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { claim, headers, openStore } from "./store.fixture.ts";

test("a commit returns after fsync: write-ahead log, synchronous FULL", () => {
  const { database } = openStore();
  assert.equal(database.prepare("PRAGMA journal_mode").get()?.journal_mode, "wal");
  assert.equal(database.prepare("PRAGMA synchronous").get()?.synchronous, 2);
});

describe("the store", () => {
  test("returns what was added, by priority, then by age", () => {
    const { store, newEnvelope, first } = openStore();
    for (const [category, received] of [
      ["replay", 1],
      ["error", 2],
      ["span", 4],
      ["error", 5],
      ["transaction", 3],
    ] as const) {
      store.add(newEnvelope(category, received));
    }
    const order = [];
    for (let next = first(1)[0]; next; next = first(1)[0]) {
      assert.deepEqual(next.headers, headers);
      assert.deepEqual(next.body, Buffer.alloc(100, next.category));
      order.push(`${next.category} ${next.received}`);
      store.remove(next.id, "delivered");
    }
    assert.deepEqual(order, ["error 2", "error 5", "transaction 3", "span 4", "replay 1"]);
    assert.deepEqual(store.queues.nonEmpty(), []);
  });
  test("claims no envelope twice, no deferred one, and no more than the limits", () => {
    const { store, newEnvelope, first } = openStore();
    for (let i = 0; i < 5; i++) store.add(newEnvelope("error", i));
    const [one] = first(1);
    assert.deepEqual(
      first(10, [(one?.id ?? 0) + 1]).map(({ received }) => received),
      [2, 3, 4],
    );
    const [queue] = store.queues.nonEmpty();
    if (one) store.release(one.id, false);
    assert.deepEqual(queue && store.claim(queue, { ...claim, bytes: 1 }).length, 1);
  });
  test("an envelope that was being delivered during a crash is a redelivery", () => {
    const before = openStore();
    before.store.add(before.newEnvelope("error"));
    assert.equal(before.first()[0]?.redelivery, false);
    before.database.close();
    const after = openStore(before.folder);
    assert.equal(after.first()[0]?.redelivery, true);
    assert.deepEqual(after.counts(), { "accepted error": 1 });
  });
  test("the bytes of a queue are those of its envelopes, also with headers that are not ASCII", () => {
    const { store, newEnvelope, first } = openStore();
    const umlauts = { ...newEnvelope("error"), headers: { ...headers, "User-Agent": "ü".repeat(50) } };
    for (let i = 0; i < 3; i++) store.add(umlauts);
    const bytes = () => store.queues.nonEmpty().map((queue) => queue.bytes);
    const each = Buffer.byteLength(JSON.stringify(umlauts.headers)) + umlauts.body.length;
    assert.deepEqual(bytes(), [3 * each]);
    for (const { id } of first(2)) store.remove(id, "delivered");
    assert.deepEqual(bytes(), [each]);
  });
  test("a key is never used twice", () => {
    const { store, newEnvelope, first } = openStore();
    const keys = [1, 2, 3].map(() => {
      store.add(newEnvelope("error"));
      const [{ id } = { id: 0 }] = first();
      store.remove(id, "delivered");
      return id;
    });
    assert.equal(new Set(keys).size, 3);
  });
});

test("envelopes for an address that is in no configured DSN are undeliverable", () => {
  const { store, newEnvelope } = openStore();
  store.add(newEnvelope("error"));
  store.add({ ...newEnvelope("span"), destination: "http://old/" });
  store.add({ ...newEnvelope("error"), destination: "http://old/" });
  assert.equal(store.queues.undeliverable(new Set(["http://ingest/"])), 2);
});
