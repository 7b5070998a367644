import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test, vi } from "vitest";
import { openDatabase } from "../queue/database.ts";
import { GroupCommit } from "../queue/group-commit.ts";
import { Store } from "../queue/store.ts";
import { Backoff } from "./backoff.ts";
import { createDelivery } from "./delivery.ts";
import type { Response } from "./send.ts";
import { DeliveryWorker } from "./worker.ts";

const url = "http://ingest/api/1/envelope/";
const headers = {};
const hour = 3_600_000;
const accepted: Response = { status: 200, headers: {} };

/** Delivers two envelopes to an ingest with these responses; the wall clock is changed after the first. Returns the times of the attempts. */
async function attempts(set: number, ...responses: (Response | Error)[]): Promise<number[]> {
  const database = openDatabase(mkdtempSync(join(tmpdir(), "spool-")));
  const store = new Store(database);
  for (let i = 0; i < 2; i++)
    store.add({ destination: url, category: "error", received: 0, headers, body: Buffer.from("x") });
  const real = Date.now;
  const wall = vi.spyOn(Date, "now");
  const times: number[] = [];
  const backoff = new Backoff(500);
  const all = new Promise<void>((resolve) => {
    const send = async () => {
      // After the first response has been handled.
      setImmediate(() => wall.mockImplementation(() => real() + set));
      if (times.push(performance.now()) === responses.length) setImmediate(resolve);
      const response = responses[times.length - 1] ?? accepted;
      if (response instanceof Error) throw response;
      return response;
    };
    const transactions = new GroupCommit(database, () => {});
    worker = new DeliveryWorker(
      createDelivery({ url, accepts: "csp_report", host: "ingest" }, store, transactions, send, backoff),
      backoff,
    );
  });
  worker.start();
  await all;
  return times;
}
let worker: DeliveryWorker;
afterEach(async () => {
  vi.restoreAllMocks();
  await worker.stop(1_000);
});

test("a wall clock set back does not stop delivery", { timeout: 60_000 }, async () => {
  assert.equal((await attempts(-hour, accepted, accepted)).length, 2);
});
test("a wall clock set back does not prolong the pause after a failure", { timeout: 60_000 }, async () => {
  assert.equal((await attempts(-hour, { status: 503, headers: {} }, accepted, accepted)).length, 3);
});
test("a wall clock set forward does not shorten a rate limit", { timeout: 60_000 }, async () => {
  const [limited = 0, next = 0] = await attempts(
    hour,
    { status: 429, headers: { "retry-after": "2" } },
    accepted,
    accepted,
  );
  assert.ok(next - limited >= 2_000);
});
test("an unexpected error is a failed attempt, and delivery continues", { timeout: 60_000 }, async () => {
  assert.equal((await attempts(0, new TypeError("Invalid URL"), accepted, accepted)).length, 3);
});
