import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "vitest";
import { GroupCommit } from "./group-commit.ts";

function open() {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE t (x INTEGER PRIMARY KEY) STRICT");
  const outcomes: unknown[] = [];
  const add = (x: number) => () => database.prepare("INSERT INTO t VALUES (?)").run(x);
  const rows = () =>
    database
      .prepare("SELECT x FROM t")
      .all()
      .map(({ x }) => x);
  return { transactions: new GroupCommit(database, (error) => outcomes.push(error)), outcomes, add, rows };
}

test("concurrent writes are one commit, and each gets its own result", async () => {
  const { transactions, outcomes, add, rows } = open();
  const results = await Promise.all([
    transactions.write(add(1)),
    transactions.write(() => "two"),
    transactions.write(add(3)),
  ]);
  assert.equal(results[1], "two");
  assert.deepEqual([rows(), outcomes], [[1, 3], [undefined]]);
});
test("a failing write is rolled back and fails no other", async () => {
  const { transactions, outcomes, add, rows } = open();
  const twice = transactions.write(() => [add(2)(), add(2)()]);
  const results = await Promise.allSettled([transactions.write(add(1)), twice, transactions.write(add(3))]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.deepEqual(rows(), [1, 3]);
  assert.ok(outcomes.length === 1 && outcomes[0] instanceof Error);
});
