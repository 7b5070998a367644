import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test, vi } from "vitest";
import { openDatabase } from "../queue/database.ts";
import { GroupCommit } from "../queue/group-commit.ts";
import { Store } from "../queue/store.ts";
import { Backoff } from "./backoff.ts";
import { Delivery } from "./delivery.ts";
import type { Answer } from "./send.ts";
import { DeliveryWorker } from "./worker.ts";

const url = "http://ingest/api/1/envelope/";
const headers = { contentType: "", contentEncoding: "", userAgent: "", clientIp: "" };
const hour = 3_600_000;
const taken: Answer = { status: 200, headers: {} };

/** Delivers two envelopes to an ingest that answers so, the wall clock set by an hour with the first answer; returns when each try was. */
async function tries(set: number, ...answers: (Answer | Error)[]): Promise<number[]> {
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
      // Once the first answer has been heeded.
      setImmediate(() => wall.mockImplementation(() => real() + set));
      if (times.push(performance.now()) === answers.length) setImmediate(resolve);
      const answer = answers[times.length - 1] ?? taken;
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const commits = new GroupCommit(database, () => {});
    worker = new DeliveryWorker(
      new Delivery({ url, takes: "report", host: "ingest" }, store, commits, send, backoff),
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
  assert.equal((await tries(-hour, taken, taken)).length, 2);
});
test("nor a pause after a failure, once it is over", { timeout: 60_000 }, async () => {
  assert.equal((await tries(-hour, { status: 503, headers: {} }, taken, taken)).length, 3);
});
test("a wall clock set forward does not end what an ingest asked for", { timeout: 60_000 }, async () => {
  const [refused = 0, next = 0] = await tries(hour, { status: 429, headers: { "retry-after": "2" } }, taken, taken);
  assert.ok(next - refused >= 2_000);
});
test("an error that nobody expected is a failed attempt, and delivery goes on", { timeout: 60_000 }, async () => {
  assert.equal((await tries(0, new TypeError("Invalid URL"), taken, taken)).length, 3);
});
