import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "vitest";
import { Bounds } from "./bounds.ts";
import { openDatabase } from "./database.ts";
import { countRefusal, metrics, type Refusals } from "./metrics.ts";
import { type Arrival, Store } from "./store.ts";

const headers = { contentType: "text/plain", contentEncoding: "", userAgent: "a browser", clientIp: "192.0.2.1" };
const claim = { most: 10, bytes: 1 << 20, except: [] as number[] };

function open(folder = mkdtempSync(join(tmpdir(), "spool-")), megabytes = 8) {
  const database = openDatabase(folder);
  const store = new Store(database);
  let free = 1 << 30;
  const bounds = new Bounds(database, store, megabytes << 20, () => free);
  const arrival = (category: string, received = 0, size = 100): Arrival => {
    return { destination: "http://ingest/", category, received, headers, body: Buffer.alloc(size, category) };
  };
  const first = (most = 10, except: number[] = []) => {
    const [lane] = store.lanes.occupied();
    return lane ? store.claim(lane, { ...claim, most, except }) : [];
  };
  const counts = () =>
    Object.fromEntries(
      store.tally.all().map((t) => [[t.name, t.reason, t.category].filter(Boolean).join(" "), t.count]),
    );
  return {
    database,
    store,
    bounds,
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
    assert.deepEqual(store.lanes.occupied(), []);
  });
  test("gives no envelope to two, none that is held, and no more than was asked for", () => {
    const { store, arrival, first } = open();
    for (let i = 0; i < 5; i++) store.add(arrival("error", i));
    const [one] = first(1);
    assert.deepEqual(
      first(10, [(one?.id ?? 0) + 1]).map(({ received }) => received),
      [2, 3, 4],
    );
    const [lane] = store.lanes.occupied();
    if (one) store.release(one.id, false);
    assert.deepEqual(lane && store.claim(lane, { ...claim, bytes: 1 }).length, 1);
  });
  test("an envelope whose end a crash hid is one that may come twice", () => {
    const before = open();
    before.store.add(before.arrival("error"));
    assert.equal(before.first()[0]?.repeated, false);
    before.database.close();
    const after = open(before.folder);
    assert.equal(after.first()[0]?.repeated, true);
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

describe("bounds", () => {
  const full = () => {
    const all = open();
    while (all.bounds.makeRoom(all.arrival("replay", 0, 20_000)) === undefined)
      all.store.add(all.arrival("replay", 0, 20_000));
    return all;
  };
  test("what is worth less makes room, counted; what is worth as much does not", () => {
    const { store, bounds, arrival, counts } = full();
    const { envelopes = 0 } = store.lanes.occupied()[0] ?? {};
    assert.ok(envelopes > 300);
    const error = arrival("error", 1, 100_000);
    assert.equal(bounds.makeRoom(error), undefined);
    store.add(error);
    const dropped = counts()["dropped full replay"] ?? 0;
    assert.ok(dropped >= 5 && dropped < 20, `${dropped} dropped`);
    assert.equal(store.lanes.occupied().at(-1)?.envelopes, envelopes - dropped);
    assert.equal(bounds.makeRoom(arrival("replay", 0, 100_000)), "SPOOL_MAX_MB");
    assert.ok(bounds.pages().used <= 8 << 20);
  });
  test("they go in order of worth, the least worthy first, and nothing of what is worth as much", () => {
    const { store, bounds, arrival, counts } = open();
    const order = ["replay", "profile", "transaction", "session", "log_item", "feedback", "error"];
    for (const category of order) for (let i = 0; i < 40; i++) store.add(arrival(category, i, 20_000));
    const gone: string[] = [];
    while (bounds.makeRoom(arrival("error", 99, 20_000)) === undefined) {
      store.add(arrival("error", 99, 20_000));
      for (const name of Object.keys(counts())) {
        const category = name.replace(/^dropped full /, "");
        if (category !== name && !gone.includes(category)) {
          // Of what is worth less than this one, nothing is left.
          const left = store.lanes.occupied().map((lane) => lane.category);
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
    const { bounds, arrival, counts } = full();
    assert.equal(bounds.makeRoom(arrival("error", 0, 9 << 20)), "SPOOL_MAX_MB");
    assert.equal(counts()["dropped full replay"], undefined);
  });
  test("those on their way are not dropped", () => {
    const { store, bounds, arrival, first, counts } = full();
    const way = first(5).map(({ id }) => id);
    bounds.makeRoom(arrival("error", 0, 100_000));
    for (const id of way) store.remove(id, "delivered");
    assert.equal(counts()["delivered replay"], 5);
  });
  test("a disk with 64 MB left is as full as the bound, and the file's own free pages are still room", () => {
    const { store, bounds, arrival, counts, setFree } = open();
    for (let i = 0; i < 100; i++) store.add(arrival("replay", 0, 20_000));
    setFree(64 << 20);
    assert.equal(bounds.makeRoom(arrival("replay", 0, 20_000)), "disk");
    assert.equal(bounds.makeRoom(arrival("error", 0, 20_000)), undefined);
    store.add(arrival("error", 0, 20_000));
    assert.ok((counts()["dropped full replay"] ?? 0) < 6);
  });
  test("once nothing waits, the disk gets back what an outage took", () => {
    const { store, bounds, arrival, first } = open(undefined, 64);
    for (let i = 0; i < 200; i++) store.add(arrival("replay", 0, 100_000));
    bounds.shrink();
    assert.ok(bounds.pages().used > 20_000_000);
    for (let some = first(50); some.length > 0; some = first(50))
      for (const { id } of some) store.remove(id, "delivered");
    assert.ok(bounds.pages().spare > 19_000_000);
    bounds.shrink();
    const { used, spare } = bounds.pages();
    assert.ok(used + spare < 200_000);
  });
  test("age: the old go, counted, a few at a time", () => {
    const { store, bounds, arrival, counts } = open();
    for (let i = 0; i < 200; i++) store.add(arrival(i % 2 ? "error" : "span", i));
    assert.equal(bounds.expire(150, 100), 100);
    assert.equal(bounds.expire(150, 100), 50);
    assert.equal(bounds.expire(150, 100), 0);
    assert.deepEqual([counts()["dropped age error"], counts()["dropped age span"]], [75, 75]);
    assert.deepEqual(
      store.lanes.occupied().map(({ oldest }) => oldest),
      [151, 150],
    );
  });
});

test("what waits for an address that no DSN names any more is counted apart", () => {
  const { store, arrival } = open();
  store.add(arrival("error"));
  store.add({ ...arrival("span"), destination: "http://old/" });
  store.add({ ...arrival("error"), destination: "http://old/" });
  assert.equal(store.lanes.undeliverable(new Set(["http://ingest/"])), 2);
});

test("metrics", () => {
  const { store, bounds, arrival } = open();
  store.add(arrival("error", 1_000));
  store.add(arrival("replay", 2_000));
  store.remove(store.claim(store.lanes.occupied()[1] as never, claim)[0]?.id ?? 0, "dropped", "http_400");
  const refusals: Refusals = new Map();
  for (let i = 0; i < 2; i++)
    countRefusal(refusals, { status: 503, body: {}, lost: { reason: "full", category: "span" } });
  countRefusal(refusals, { status: 503, body: {} });
  const text = metrics(store, bounds, refusals, new Set(["http://new/"]), 5_000);
  for (const line of [
    'culvert_spool_waiting_envelopes{category="error"} 1',
    `culvert_spool_waiting_bytes{category="error"} ${JSON.stringify(headers).length + 100}`,
    "culvert_spool_oldest_seconds 4",
    "culvert_spool_undeliverable_envelopes 1",
    'culvert_spool_accepted_total{category="replay"} 1',
    'culvert_spool_dropped_total{reason="http_400",category="replay"} 1',
    'culvert_spool_refused_total{status="503",reason="full",category="span"} 2',
    'culvert_spool_refused_total{status="503"} 1',
    "# TYPE culvert_spool_repeated_total counter",
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});
