import assert from "node:assert/strict";
import { test } from "vitest";
import { claim, headers, openStore } from "./store.fixture.ts";

test("a commit returns after fsync: write-ahead log, synchronous FULL", () => {
  const { database } = openStore();
  assert.equal(database.prepare("PRAGMA journal_mode").get()?.journal_mode, "wal");
  assert.equal(database.prepare("PRAGMA synchronous").get()?.synchronous, 2);
});
test("the store returns what was added, by priority, large ones last within it, then by age", () => {
  const { store, newEnvelope, first, counts } = openStore();
  const categories = ["replay", "error", "transaction", "span", "error"];
  for (const [received, category] of categories.entries())
    store.add(newEnvelope(category, received, 100, received === 1));
  const order = [];
  for (let next = first(1)[0]; next; next = first(1)[0]) {
    assert.deepEqual(next.headers, headers);
    assert.deepEqual(next.body, Buffer.alloc(100, next.category));
    order.push(`${next.category} ${next.received}`);
    store.remove(next.id, "delivered");
  }
  assert.deepEqual(order, ["error 4", "error 1", "transaction 2", "span 3", "replay 0"]);
  assert.deepEqual(store.queues.nonEmpty(), []);
  assert.equal(counts()["delivered error"], 2);
});
test("no envelope is claimed twice, no deferred one, and no more than the limits", () => {
  const { store, newEnvelope, first } = openStore();
  for (let i = 0; i < 5; i++) store.add(newEnvelope("error", i));
  const [one] = first(1);
  const others = first(10, [(one?.id ?? 0) + 1]);
  assert.deepEqual(
    others.map(({ received }) => received),
    [2, 3, 4],
  );
  const [queue] = store.queues.nonEmpty();
  if (one) store.release(one.id, false);
  assert.equal(queue && store.claim(queue, { ...claim, bytes: 1 }).length, 1);
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
