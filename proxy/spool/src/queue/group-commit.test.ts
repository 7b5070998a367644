import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "vitest";
import { GroupCommit } from "./group-commit.ts";

function commits() {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE t (x INTEGER PRIMARY KEY) STRICT");
  const outcomes: unknown[] = [];
  const add = (x: number) => () => database.prepare("INSERT INTO t VALUES (?)").run(x);
  const rows = () =>
    database
      .prepare("SELECT x FROM t")
      .all()
      .map(({ x }) => x);
  return { commits: new GroupCommit(database, (error) => outcomes.push(error)), outcomes, add, rows };
}

test("what is asked for together is one commit, and each gets its own result", async () => {
  const { commits: j, outcomes, add, rows } = commits();
  const results = await Promise.all([j.write(add(1)), j.write(() => "two"), j.write(add(3))]);
  assert.equal(results[1], "two");
  assert.deepEqual([rows(), outcomes], [[1, 3], [undefined]]);
});
test("one that fails takes no other with it, and leaves no half of itself", async () => {
  const { commits: j, outcomes, add, rows } = commits();
  const twice = j.write(() => [add(2)(), add(2)()]);
  const results = await Promise.allSettled([j.write(add(1)), twice, j.write(add(3))]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.deepEqual(rows(), [1, 3]);
  assert.ok(outcomes.length === 1 && outcomes[0] instanceof Error);
});
