import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "vitest";
import { countRejection, metrics, type Rejections } from "../metrics.ts";
import { openDatabase } from "./database.ts";
import { Eviction } from "./eviction.ts";
import { type NewEnvelope, Store } from "./store.ts";

const headers = { contentType: "text/plain", contentEncoding: "", userAgent: "a browser", clientIp: "192.0.2.1" };
const claim = { max: 10, bytes: 1 << 20, except: [] as number[] };

function open(folder = mkdtempSync(join(tmpdir(), "spool-")), megabytes = 8) {
  const database = openDatabase(folder);
  const store = new Store(database);
  let free = 1 << 30;
  const eviction = new Eviction(database, store, megabytes << 20, () => free);
  const newEnvelope = (category: string, received = 0, size = 100): NewEnvelope => {
    return { destination: "http://ingest/", category, received, headers, body: Buffer.alloc(size, category) };
  };
  const first = (max = 10, except: number[] = []) => {
    const [queue] = store.queues.nonEmpty();
    return queue ? store.claim(queue, { ...claim, max, except }) : [];
  };
  const counts = () =>
    Object.fromEntries(
      store.counters.all().map((t) => [[t.name, t.reason, t.category].filter(Boolean).join(" "), t.count]),
    );
  return {
    database,
    store,
    eviction,
    newEnvelope,
    first,
    counts,
    folder,
    setFree: (bytes: number) => {
      free = bytes;
    },
  };
}

test("a commit returns after fsync: write-ahead log, synchronous FULL", () => {
  const { database } = open();
  assert.equal(database.prepare("PRAGMA journal_mode").get()?.journal_mode, "wal");
  assert.equal(database.prepare("PRAGMA synchronous").get()?.synchronous, 2);
});

describe("the store", () => {
  test("returns what was added, by priority, then by age", () => {
    const { store, newEnvelope, first } = open();
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
    const { store, newEnvelope, first } = open();
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
    const before = open();
    before.store.add(before.newEnvelope("error"));
    assert.equal(before.first()[0]?.redelivery, false);
    before.database.close();
    const after = open(before.folder);
    assert.equal(after.first()[0]?.redelivery, true);
    assert.deepEqual(after.counts(), { "accepted error": 1 });
  });
  test("a key is never used twice", () => {
    const { store, newEnvelope, first } = open();
    const keys = [1, 2, 3].map(() => {
      store.add(newEnvelope("error"));
      const [{ id } = { id: 0 }] = first();
      store.remove(id, "delivered");
      return id;
    });
    assert.equal(new Set(keys).size, 3);
  });
});

describe("eviction", () => {
  const full = () => {
    const all = open();
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
    const { store, eviction, newEnvelope, counts } = open();
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
    const { store, eviction, newEnvelope, counts, setFree } = open();
    for (let i = 0; i < 100; i++) store.add(newEnvelope("replay", 0, 20_000));
    setFree(64 << 20);
    assert.equal(eviction.makeSpaceFor(newEnvelope("replay", 0, 20_000)), "disk");
    assert.equal(eviction.makeSpaceFor(newEnvelope("error", 0, 20_000)), undefined);
    store.add(newEnvelope("error", 0, 20_000));
    assert.ok((counts()["dropped full replay"] ?? 0) < 6);
  });
  test("the file shrinks once all queues are empty", () => {
    const { store, eviction, newEnvelope, first } = open(undefined, 64);
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
    const { store, eviction, newEnvelope, counts } = open();
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

test("envelopes for an address that is in no configured DSN are undeliverable", () => {
  const { store, newEnvelope } = open();
  store.add(newEnvelope("error"));
  store.add({ ...newEnvelope("span"), destination: "http://old/" });
  store.add({ ...newEnvelope("error"), destination: "http://old/" });
  assert.equal(store.queues.undeliverable(new Set(["http://ingest/"])), 2);
});

test("metrics", () => {
  const { store, eviction, newEnvelope } = open();
  store.add(newEnvelope("error", 1_000));
  store.add(newEnvelope("replay", 2_000));
  store.remove(store.claim(store.queues.nonEmpty()[1] as never, claim)[0]?.id ?? 0, "dropped", "http_400");
  const rejections: Rejections = new Map();
  for (let i = 0; i < 2; i++)
    countRejection(rejections, { status: 503, body: {}, rejected: { reason: "full", category: "span" } });
  countRejection(rejections, { status: 503, body: {} });
  const text = metrics(store, eviction, rejections, new Set(["http://new/"]), 5_000);
  for (const line of [
    'culvert_spool_queued_envelopes{category="error"} 1',
    `culvert_spool_queued_bytes{category="error"} ${JSON.stringify(headers).length + 100}`,
    "culvert_spool_oldest_envelope_age_seconds 4",
    "culvert_spool_undeliverable_envelopes 1",
    'culvert_spool_accepted_total{category="replay"} 1',
    'culvert_spool_dropped_total{reason="http_400",category="replay"} 1',
    'culvert_spool_rejected_total{status="503",reason="full",category="span"} 2',
    'culvert_spool_rejected_total{status="503"} 1',
    "# TYPE culvert_spool_redelivered_total counter",
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});
