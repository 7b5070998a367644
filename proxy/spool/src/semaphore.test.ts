import assert from "node:assert/strict";
import { test } from "vitest";
import { Semaphore } from "./semaphore.ts";

test("callers wait for permits in the order of their calls", async () => {
  const semaphore = new Semaphore(10);
  const order: number[] = [];
  const take = (size: number) => semaphore.acquire(size, 1_000).then(() => order.push(size));
  await take(6);
  const rest = [take(8), take(3)];
  await new Promise(setImmediate);
  assert.deepEqual(order, [6]);
  semaphore.release(6);
  await rest[0];
  assert.deepEqual(order, [6, 8]);
  semaphore.release(8);
  await rest[1];
});
test("after a timeout the next caller in line is served", async () => {
  const semaphore = new Semaphore(10);
  await semaphore.acquire(5, 1_000);
  const tooLarge = semaphore.acquire(9, 20);
  const small = semaphore.acquire(3, 1_000);
  assert.equal(await tooLarge, false);
  assert.equal(await small, true);
});
