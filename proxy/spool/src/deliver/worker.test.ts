import assert from "node:assert/strict";
import { test } from "vitest";
import { GroupCommit } from "../queue/group-commit.ts";
import { openStore } from "../queue/store.fixture.ts";
import { Backoff } from "./backoff.ts";
import { createDelivery } from "./delivery.ts";
import type { Response } from "./send.ts";
import { DeliveryWorker } from "./worker.ts";

const accepted: Response = { status: 200, headers: {} };
const [first, second] = ["http://ingest/1", "http://ingest/2"];

/** Starts a worker for an ingest with two projects, with 100 envelopes each. Those of the first have a higher priority, and may be large. */
function startWorker(answer: (url: string, sent: string[]) => Promise<Response>, isLarge = false) {
  const { database, store, newEnvelope } = openStore();
  for (let count = 0; count < 100; count++) {
    store.add({ ...newEnvelope("error", 0, 100, isLarge), destination: first });
    store.add({ ...newEnvelope("replay"), destination: second });
  }
  const transactions = new GroupCommit(database, (error) => assert.fail(String(error)));
  const sent: string[] = [];
  const inFlight: string[] = [];
  let most = 0;
  const send = async (url: string): Promise<Response> => {
    sent.push(url);
    inFlight.push(url);
    most = Math.max(most, isLarge ? inFlight.filter((one) => one === first).length : inFlight.length);
    const response = await answer(url, sent);
    inFlight.splice(inFlight.indexOf(url), 1);
    return response;
  };
  const backoff = new Backoff(10_000, () => 1);
  const deliveries = [first, second].map((url) =>
    createDelivery({ url, accepts: "csp_report", host: "ingest" }, store, transactions, send, backoff),
  );
  const worker = new DeliveryWorker(deliveries, backoff);
  worker.start();
  return { sent, worker, most: () => most };
}
const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise(setImmediate);
};

test("an ingest that is down: one envelope at a time, of each project in turn", async () => {
  const { sent, worker, most } = startWorker(async () => ({ status: 503, headers: {} }));
  await until(() => sent.length === 4);
  await worker.stop(1_000);
  assert.deepEqual(sent.toSorted(), [first, first, second, second]);
  assert.equal(most(), 1);
});
test("an ingest that accepts: no project waits for the queue of another, and at most 32 are in flight in total", async () => {
  const { sent, worker, most } = startWorker(async () => accepted);
  await until(() => sent.length === 200);
  await worker.stop(1_000);
  assert.ok(sent.indexOf(second) <= 32 && sent.indexOf(first) <= 32);
  assert.ok(most() <= 32);
});
test("large envelopes: one at a time, and the others do not wait for it", async () => {
  const small = (sent: string[]) => sent.filter((one) => one === second).length;
  const { sent, worker, most } = startWorker(async (url, sent) => {
    if (url === first && sent.length > 1) await until(() => small(sent) === 100);
    return accepted;
  }, true);
  await until(() => sent.length === 200);
  await worker.stop(1_000);
  assert.equal(most(), 1);
});
