import assert from "node:assert/strict";
import { test } from "vitest";
import { Semaphore } from "./semaphore.ts";

test("who does not fit waits in line, and nobody overtakes", async () => {
  const budget = new Semaphore(10);
  const order: number[] = [];
  const take = (size: number) => budget.take(size, 1_000).then(() => order.push(size));
  await take(6);
  const rest = [take(8), take(3)];
  await new Promise(setImmediate);
  assert.deepEqual(order, [6]);
  budget.give(6);
  await rest[0];
  assert.deepEqual(order, [6, 8]);
  budget.give(8);
  await rest[1];
});
test("timeoutMs ends, and the next in line may go", async () => {
  const budget = new Semaphore(10);
  await budget.take(5, 1_000);
  const tooLarge = budget.take(9, 20);
  const small = budget.take(3, 1_000);
  assert.equal(await tooLarge, false);
  assert.equal(await small, true);
});
