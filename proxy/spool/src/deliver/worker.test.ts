import assert from "node:assert/strict";
import { test } from "vitest";
import { GroupCommit } from "../queue/group-commit.ts";
import { openStore } from "../queue/store.fixture.ts";
import { Backoff } from "./backoff.ts";
import { createDelivery } from "./delivery.ts";
import { DeliveryWorker } from "./worker.ts";

const [first, second] = ["http://ingest/1", "http://ingest/2"];
const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise(setImmediate);
};

test("an ingest that is up: 32 envelopes at a time, of each project in turn, but one large one", async () => {
  const { database, store, newEnvelope } = openStore();
  for (let count = 0; count < 100; count++) {
    store.add({ ...newEnvelope("error", 0, 100, true), destination: first });
    store.add({ ...newEnvelope("replay"), destination: second });
  }
  const [sent, inFlight]: [string[], string[]] = [[], []];
  const most = { all: 0, large: 0 };
  const count = (urls: string[], url: string) => urls.filter((one) => one === url).length;
  const send = async (url: string) => {
    sent.push(url);
    inFlight.push(url);
    most.all = Math.max(most.all, inFlight.length);
    most.large = Math.max(most.large, count(inFlight, first));
    // Large ones are in flight until all others have been sent.
    if (sent.length > 1 && url === first) await until(() => count(sent, second) === 100);
    inFlight.splice(inFlight.indexOf(url), 1);
    return { status: 200, headers: {} };
  };
  const transactions = new GroupCommit(database, (error) => assert.fail(String(error)));
  const backoff = new Backoff(10_000);
  const deliveries = [first, second].map((url) =>
    createDelivery({ url, accepts: "csp_report", host: "ingest" }, store, transactions, send, backoff),
  );
  const worker = new DeliveryWorker(deliveries, backoff);
  worker.start();
  await until(() => sent.length === 200);
  await worker.stop(1_000);
  assert.deepEqual([most.all <= 32, most.large], [true, 1]);
  for (const url of [first, second]) assert.ok(sent.indexOf(url) <= 32);
});
