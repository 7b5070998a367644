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
  const arrival = (category: string, received = 0, size = 100): NewEnvelope => {
    return { destination: "http://ingest/", category, received, headers, body: Buffer.alloc(size, category) };
  };
  const first = (max = 10, except: number[] = []) => {
    const [queue] = store.queues.occupied();
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
    arrival,
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
  test("gives back what came, by worth, then by age", () => {
    const { store, arrival, first } = open();
    for (const [category, received] of [
      ["replay", 1],
      ["error", 2],
      ["span", 4],
      ["error", 5],
      ["transaction", 3],
    ] as const) {
      store.add(arrival(category, received));
    }
    const order = [];
    for (let next = first(1)[0]; next; next = first(1)[0]) {
      assert.deepEqual(next.headers, headers);
      assert.deepEqual(next.body, Buffer.alloc(100, next.category));
      order.push(`${next.category} ${next.received}`);
      store.remove(next.id, "delivered");
    }
    assert.deepEqual(order, ["error 2", "error 5", "transaction 3", "span 4", "replay 1"]);
    assert.deepEqual(store.queues.occupied(), []);
  });
  test("gives no envelope to two, none that is held, and no more than was asked for", () => {
    const { store, arrival, first } = open();
    for (let i = 0; i < 5; i++) store.add(arrival("error", i));
    const [one] = first(1);
    assert.deepEqual(
      first(10, [(one?.id ?? 0) + 1]).map(({ received }) => received),
      [2, 3, 4],
    );
    const [queue] = store.queues.occupied();
    if (one) store.release(one.id, false);
    assert.deepEqual(queue && store.claim(queue, { ...claim, bytes: 1 }).length, 1);
  });
  test("an envelope whose end a crash hid is one that may come twice", () => {
    const before = open();
    before.store.add(before.arrival("error"));
    assert.equal(before.first()[0]?.redelivery, false);
    before.database.close();
    const after = open(before.folder);
    assert.equal(after.first()[0]?.redelivery, true);
    assert.deepEqual(after.counts(), { "accepted error": 1 });
  });
  test("a key is never used twice", () => {
    const { store, arrival, first } = open();
    const keys = [1, 2, 3].map(() => {
      store.add(arrival("error"));
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
    while (all.eviction.makeSpace(all.arrival("replay", 0, 20_000)) === undefined)
      all.store.add(all.arrival("replay", 0, 20_000));
    return all;
  };
  test("what is worth less makes room, counted; what is worth as much does not", () => {
    const { store, eviction, arrival, counts } = full();
    const { envelopes = 0 } = store.queues.occupied()[0] ?? {};
    assert.ok(envelopes > 300);
    const error = arrival("error", 1, 100_000);
    assert.equal(eviction.makeSpace(error), undefined);
    store.add(error);
    const dropped = counts()["dropped full replay"] ?? 0;
    assert.ok(dropped >= 5 && dropped < 20, `${dropped} dropped`);
    assert.equal(store.queues.occupied().at(-1)?.envelopes, envelopes - dropped);
    assert.equal(eviction.makeSpace(arrival("replay", 0, 100_000)), "SPOOL_MAX_MB");
    assert.ok(eviction.pages().used <= 8 << 20);
  });
  test("they go in order of worth, the least worthy first, and nothing of what is worth as much", () => {
    const { store, eviction, arrival, counts } = open();
    const order = ["replay", "profile", "transaction", "session", "log_item", "feedback", "error"];
    for (const category of order) for (let i = 0; i < 40; i++) store.add(arrival(category, i, 20_000));
    const gone: string[] = [];
    while (eviction.makeSpace(arrival("error", 99, 20_000)) === undefined) {
      store.add(arrival("error", 99, 20_000));
      for (const name of Object.keys(counts())) {
        const category = name.replace(/^dropped full /, "");
        if (category !== name && !gone.includes(category)) {
          // Of what is worth less than this one, nothing is left.
          const left = store.queues.occupied().map((queue) => queue.category);
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
  test("nothing is dropped for what would not fit even then", () => {
    const { eviction, arrival, counts } = full();
    assert.equal(eviction.makeSpace(arrival("error", 0, 9 << 20)), "SPOOL_MAX_MB");
    assert.equal(counts()["dropped full replay"], undefined);
  });
  test("those on their way are not dropped", () => {
    const { store, eviction, arrival, first, counts } = full();
    const way = first(5).map(({ id }) => id);
    eviction.makeSpace(arrival("error", 0, 100_000));
    for (const id of way) store.remove(id, "delivered");
    assert.equal(counts()["delivered replay"], 5);
  });
  test("a disk with 64 MB left is as full as the bound, and the file's own free pages are still room", () => {
    const { store, eviction, arrival, counts, setFree } = open();
    for (let i = 0; i < 100; i++) store.add(arrival("replay", 0, 20_000));
    setFree(64 << 20);
    assert.equal(eviction.makeSpace(arrival("replay", 0, 20_000)), "disk");
    assert.equal(eviction.makeSpace(arrival("error", 0, 20_000)), undefined);
    store.add(arrival("error", 0, 20_000));
    assert.ok((counts()["dropped full replay"] ?? 0) < 6);
  });
  test("once nothing waits, the disk gets back what an outage took", () => {
    const { store, eviction, arrival, first } = open(undefined, 64);
    for (let i = 0; i < 200; i++) store.add(arrival("replay", 0, 100_000));
    eviction.shrink();
    assert.ok(eviction.pages().used > 20_000_000);
    for (let some = first(50); some.length > 0; some = first(50))
      for (const { id } of some) store.remove(id, "delivered");
    assert.ok(eviction.pages().spare > 19_000_000);
    eviction.shrink();
    const { used, spare } = eviction.pages();
    assert.ok(used + spare < 200_000);
  });
  test("age: the old go, counted, a few at a time", () => {
    const { store, eviction, arrival, counts } = open();
    for (let i = 0; i < 200; i++) store.add(arrival(i % 2 ? "error" : "span", i));
    assert.equal(eviction.expire(150, 100), 100);
    assert.equal(eviction.expire(150, 100), 50);
    assert.equal(eviction.expire(150, 100), 0);
    assert.deepEqual([counts()["dropped age error"], counts()["dropped age span"]], [75, 75]);
    assert.deepEqual(
      store.queues.occupied().map(({ oldest }) => oldest),
      [151, 150],
    );
  });
});

test("what waits for an address that no DSN names any more is counted apart", () => {
  const { store, arrival } = open();
  store.add(arrival("error"));
  store.add({ ...arrival("span"), destination: "http://old/" });
  store.add({ ...arrival("error"), destination: "http://old/" });
  assert.equal(store.queues.undeliverable(new Set(["http://ingest/"])), 2);
});

test("metrics", () => {
  const { store, eviction, arrival } = open();
  store.add(arrival("error", 1_000));
  store.add(arrival("replay", 2_000));
  store.remove(store.claim(store.queues.occupied()[1] as never, claim)[0]?.id ?? 0, "dropped", "http_400");
  const rejections: Rejections = new Map();
  for (let i = 0; i < 2; i++)
    countRejection(rejections, { status: 503, body: {}, lost: { reason: "full", category: "span" } });
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
