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

test.each([
  ["down: one envelope at a time, of each project in turn", 503, 4, 1],
  ["up: 32 envelopes at a time, of each project in turn, but one large one", 200, 200, 32],
])("an ingest that is %s", async (_, status, enough, max) => {
  const { database, store, newEnvelope } = openStore();
  for (let count = 0; count < 100; count++) {
    store.add({ ...newEnvelope("error", 0, 100, true), destination: first });
    store.add({ ...newEnvelope("replay"), destination: second });
  }
  const sent: string[] = [];
  const inFlight: string[] = [];
  const [most, mostLarge]: [number[], number[]] = [[], []];
  const count = (urls: string[], url: string) => urls.filter((one) => one === url).length;
  const send = async (url: string) => {
    inFlight.push(url);
    most.push(inFlight.length);
    mostLarge.push(count(inFlight, first));
    // Large ones are in flight until all others have been sent.
    if (sent.push(url) > 1 && status === 200 && url === first) await until(() => count(sent, second) === 100);
    inFlight.splice(inFlight.indexOf(url), 1);
    return { status, headers: {} };
  };
  const transactions = new GroupCommit(database, (error) => assert.fail(String(error)));
  const backoff = new Backoff(10_000, () => 1);
  const worker = new DeliveryWorker(
    [first, second].map((url) =>
      createDelivery({ url, accepts: "csp_report", host: "ingest" }, store, transactions, send, backoff),
    ),
    backoff,
  );
  worker.start();
  await until(() => sent.length === enough);
  await worker.stop(1_000);
  assert.deepEqual([Math.max(...most) <= max, Math.max(...mostLarge)], [true, 1]);
  for (const url of [first, second]) assert.ok(sent.indexOf(url) <= max);
});
