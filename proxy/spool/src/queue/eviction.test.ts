import assert from "node:assert/strict";
import { test } from "vitest";
import { ageClock } from "./expiry.ts";
import { openStore } from "./store.fixture.ts";

const full = () => {
  const all = openStore();
  const replay = all.newEnvelope("replay", 0, 20_000);
  for (let i = 0; i < 500 && all.eviction.makeSpaceFor(replay) === undefined; i++) all.store.add(replay);
  return all;
};
test("only as much is evicted as needed, and nothing for an envelope that would not fit even then", () => {
  const { store, eviction, newEnvelope, counts } = full();
  assert.equal(eviction.makeSpaceFor(newEnvelope("error", 0, 9 << 20)), "SPOOL_MAX_MB");
  assert.equal(counts()["dropped full replay"], undefined);
  const { envelopes = 0 } = store.queues.nonEmpty()[0] ?? {};
  assert.equal(eviction.makeSpaceFor(newEnvelope("error", 1, 100_000)), undefined);
  const dropped = counts()["dropped full replay"] ?? 0;
  assert.ok(dropped >= 5 && dropped < 20, `${dropped} dropped`);
  assert.equal(store.queues.nonEmpty()[0]?.envelopes, envelopes - dropped);
});
test("envelopes that are being delivered are not evicted", () => {
  const { store, eviction, newEnvelope, first, counts } = full();
  const way = first(5).map(({ id }) => id);
  eviction.makeSpaceFor(newEnvelope("error", 0, 100_000));
  for (const id of way) store.remove(id, "delivered");
  assert.equal(counts()["delivered replay"], 5);
});
test("a disk with 64 MB left counts as full, except for the free pages of the file", () => {
  const { store, eviction, newEnvelope, counts, disk } = openStore();
  for (let i = 0; i < 100; i++) store.add(newEnvelope("replay", 0, 20_000));
  disk.free = 64 << 20;
  assert.equal(eviction.freeDiskBytes(), 0);
  assert.equal(eviction.makeSpaceFor(newEnvelope("replay", 0, 20_000)), "disk");
  assert.equal(eviction.makeSpaceFor(newEnvelope("error", 0, 20_000)), undefined);
  assert.ok(eviction.freeDiskBytes() > 20_000);
  store.add(newEnvelope("error", 0, 20_000));
  assert.ok((counts()["dropped full replay"] ?? 0) < 6);
});
test("ages follow the wall clock, but one that is set forward by days expires nothing at once", () => {
  const day = 86_400_000;
  const at = { wall: 1_000 * day, passed: 0 };
  const now = ageClock(
    () => at.wall,
    () => at.passed,
  );
  const pass = (time: number, set = 0) => {
    at.wall += time + set;
    at.passed += time;
    return now() - 1_000 * day;
  };
  assert.equal(pass(10_000), 10_000);
  assert.equal(pass(10_000, 4 * day), 30_000);
  assert.equal(pass(10_000, -4 * day), 30_000);
  assert.equal(pass(10_000, -3_600_000), 40_000 - 3_600_000);
});
