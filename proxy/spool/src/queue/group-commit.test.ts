import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "vitest";
import { GroupCommit } from "./group-commit.ts";

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
