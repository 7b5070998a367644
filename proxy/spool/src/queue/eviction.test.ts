import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { openStore } from "./store.fixture.ts";

describe("eviction", () => {
  const full = () => {
    const all = openStore();
    while (all.eviction.makeSpaceFor(all.newEnvelope("replay", 0, 20_000)) === undefined)
      all.store.add(all.newEnvelope("replay", 0, 20_000));
    return all;
  };
  test("a lower priority is evicted and counted, the same priority is not", () => {
    const { store, eviction, newEnvelope, counts } = full();
    const { envelopes = 0 } = store.queues.nonEmpty()[0] ?? {};
    assert.ok(envelopes > 300);
    const error = newEnvelope("error", 1, 100_000);
    assert.equal(eviction.makeSpaceFor(error), undefined);
    store.add(error);
    const dropped = counts()["dropped full replay"] ?? 0;
    assert.ok(dropped >= 5 && dropped < 20, `${dropped} dropped`);
    assert.equal(store.queues.nonEmpty().at(-1)?.envelopes, envelopes - dropped);
    assert.equal(eviction.makeSpaceFor(newEnvelope("replay", 0, 100_000)), "SPOOL_MAX_MB");
    assert.ok(eviction.pages().used <= 8 << 20);
  });
  test("the lowest priority is evicted first, and nothing of the same priority", () => {
    const { store, eviction, newEnvelope, counts } = openStore();
    const order = ["replay", "profile", "transaction", "session", "log_item", "feedback", "error"];
    for (const category of order) for (let i = 0; i < 40; i++) store.add(newEnvelope(category, i, 20_000));
    const gone: string[] = [];
    while (eviction.makeSpaceFor(newEnvelope("error", 99, 20_000)) === undefined) {
      store.add(newEnvelope("error", 99, 20_000));
      for (const name of Object.keys(counts())) {
        const category = name.replace(/^dropped full /, "");
        if (category !== name && !gone.includes(category)) {
          // Nothing of a lower priority is left.
          const left = store.queues.nonEmpty().map((queue) => queue.category);
          assert.deepEqual(
            left.filter((one) => order.indexOf(one) < order.indexOf(category)),
            [],
          );
          gone.push(category);
        }
      }
    }
    assert.deepEqual(gone, order.slice(0, -1));
    assert.equal(counts()["dropped full error"], undefined);
  });
  test("nothing is evicted for an envelope that would not fit even then", () => {
    const { eviction, newEnvelope, counts } = full();
    assert.equal(eviction.makeSpaceFor(newEnvelope("error", 0, 9 << 20)), "SPOOL_MAX_MB");
    assert.equal(counts()["dropped full replay"], undefined);
  });
  test("envelopes that are being delivered are not evicted", () => {
    const { store, eviction, newEnvelope, first, counts } = full();
    const way = first(5).map(({ id }) => id);
    eviction.makeSpaceFor(newEnvelope("error", 0, 100_000));
    for (const id of way) store.remove(id, "delivered");
    assert.equal(counts()["delivered replay"], 5);
  });
  test("a disk with 64 MB left counts as full, except for the free pages of the file", () => {
    const { store, eviction, newEnvelope, counts, setFree } = openStore();
    for (let i = 0; i < 100; i++) store.add(newEnvelope("replay", 0, 20_000));
    setFree(64 << 20);
    assert.equal(eviction.makeSpaceFor(newEnvelope("replay", 0, 20_000)), "disk");
    assert.equal(eviction.makeSpaceFor(newEnvelope("error", 0, 20_000)), undefined);
    store.add(newEnvelope("error", 0, 20_000));
    assert.ok((counts()["dropped full replay"] ?? 0) < 6);
  });
  test("the file shrinks once all queues are empty", () => {
    const { store, eviction, newEnvelope, first } = openStore(undefined, 64);
    for (let i = 0; i < 200; i++) store.add(newEnvelope("replay", 0, 100_000));
    eviction.shrink();
    assert.ok(eviction.pages().used > 20_000_000);
    for (let some = first(50); some.length > 0; some = first(50))
      for (const { id } of some) store.remove(id, "delivered");
    assert.ok(eviction.pages().spare > 19_000_000);
    eviction.shrink();
    const { used, spare } = eviction.pages();
    assert.ok(used + spare < 200_000);
  });
  test("old envelopes expire in batches and are counted", () => {
    const { store, eviction, newEnvelope, counts } = openStore();
    for (let i = 0; i < 200; i++) store.add(newEnvelope(i % 2 ? "error" : "span", i));
    assert.equal(eviction.expire(150, 100), 100);
    assert.equal(eviction.expire(150, 100), 50);
    assert.equal(eviction.expire(150, 100), 0);
    assert.deepEqual([counts()["dropped age error"], counts()["dropped age span"]], [75, 75]);
    assert.deepEqual(
      store.queues.nonEmpty().map(({ oldest }) => oldest),
      [151, 150],
    );
  });
});
