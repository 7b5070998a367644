import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "vitest";
import { openDatabase } from "./database.ts";
import { GroupCommit } from "./group-commit.ts";
import { higherPriority, priorityOf, rateLimitNames } from "./priority.ts";
import { claim, headers, openStore } from "./store.fixture.ts";

test("a commit returns after fsync: write-ahead log, synchronous FULL", () => {
  const database = openDatabase(mkdtempSync(join(tmpdir(), "spool-")));
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
  const [claimed] = first(1);
  const others = first(10, [(claimed?.id ?? 0) + 1]);
  assert.deepEqual(
    others.map(({ received }) => received),
    [2, 3, 4],
  );
  const [queue] = store.queues.nonEmpty();
  if (claimed) store.release(claimed.id, false);
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
test("concurrent writes are one commit: each gets its own result, or all fail and nothing is written", async () => {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE t (x INTEGER PRIMARY KEY) STRICT");
  const errors: unknown[] = [];
  const transactions = new GroupCommit(database, (error) => errors.push(error));
  const add = (x: number) =>
    transactions.write(() => database.prepare("INSERT INTO t VALUES (?) RETURNING x").get(x)?.x);
  const results = await Promise.allSettled([add(1), add(2), add(2)]);
  assert.deepEqual(new Set(results.map(({ status }) => status)), new Set(["rejected"]));
  assert.equal(errors.length, 1);
  assert.deepEqual(await Promise.all([add(2), add(3)]), [2, 3]);
  assert.equal(database.prepare("SELECT count(*) AS rows FROM t").get()?.rows, 2);
});

// The order of proxy/README.md.
test.each(
  [
    "event check_in",
    "feedback user_report attachment",
    "log otel_log trace_metric metric raw_security nel client_report from_the_future",
    "session sessions",
    "transaction span otel_span",
    "profile profile_chunk",
    "replay_event replay_recording replay_video",
  ].map((items, priority) => [priority, items] as const),
)("priority %i: %s", (priority, items) => {
  for (const item of items.split(" ")) assert.equal(priorityOf(higherPriority(undefined, item)), priority, item);
});
test("each type of item that Sentry's SDK knows has a category", () => {
  const file = "../../../../web/node_modules/@sentry/core/build/types/types/envelope.d.ts";
  const types = readFileSync(new URL(file, import.meta.url), "utf8");
  const items: string[] = /type EnvelopeItemType = [^;]+/.exec(types)?.[0].match(/\w+(?=')/g) ?? [];
  assert.ok(items.includes("event"));
  assert.deepEqual(
    items.filter((item) => higherPriority(undefined, item) === "default"),
    [],
  );
});
test("a category of another version of the spool has the priority of unknown types", () =>
  assert.equal(priorityOf("from an older spool"), priorityOf("default")));
test.each([
  ["error", ["attachment", "event", "session"]],
  ["feedback", ["feedback", "replay_recording"]],
  ["transaction", ["transaction", "profile"]],
])("an envelope has the category of its item with the highest priority: %s", (category, items) => {
  assert.equal(items.reduce<string | undefined>(higherPriority, undefined), category);
});
test("a rate limit on log bytes applies to logs", () => assert.ok(rateLimitNames("log_item").includes("log_byte")));
