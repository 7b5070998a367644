import assert from "node:assert/strict";
import { test } from "vitest";
import { GroupCommit } from "../queue/group-commit.ts";
import { openStore } from "../queue/store.fixture.ts";
import { Backoff } from "./backoff.ts";
import { classifyResponse } from "./classify-response.ts";
import { DeferredEnvelopes } from "./deferred.ts";
import { createDelivery } from "./delivery.ts";
import { RateLimits, retryAfterMs } from "./rate-limits.ts";
import { DeliveryWorker } from "./worker.ts";

const late = 3_600_000;

test.each([
  ["without", 0, [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]],
  ["with most", 1, [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]],
])("pauses double up to 10 s, %s randomness", (_, random, pauses) => {
  const backoff = new Backoff(100, () => random);
  let now = late;
  for (const pause of pauses) {
    assert.equal(backoff.failed(now, now, 0), pause);
    now += pause;
  }
});
test("attempts in flight together count as one failure", () => {
  const backoff = new Backoff(100, () => 0);
  backoff.failed(late, late + 10, 0);
  assert.equal(backoff.failed(late, late + 10, 0), 500);
});
test("one at a time until the ingest accepts one, while it fails, and after 10 s without a success", () => {
  const backoff = new Backoff(100, () => 0);
  assert.equal(backoff.concurrency(late), 1);
  backoff.succeeded(late);
  assert.ok(backoff.concurrency(late + 9_999) > 1);
  assert.equal(backoff.concurrency(late + 10_000), 1);
  // The ingest may ask for a longer pause.
  assert.equal(backoff.failed(late, late, 30_000), 30_000);
  assert.equal(backoff.concurrency(late), 1);
  backoff.succeeded(late);
  assert.ok(backoff.concurrency(late) > 1 && backoff.delayMs(late) === 0);
});

function sentWithinSecond(backoff: Backoff, from: number): number {
  let count = 0;
  for (let now = from; now < from + 1_000; now++) for (; backoff.delayMs(now) === 0; count++) backoff.sent(now);
  return count;
}
test("the rate is not exceeded, and a returning ingest gets a tenth of it at first", () => {
  const backoff = new Backoff(100);
  backoff.succeeded(late - 5_000);
  assert.ok(Math.abs(sentWithinSecond(backoff, late) - 100) <= 12);
  backoff.failed(late + 2_000, late + 2_000, 0);
  backoff.succeeded(late + 20_000);
  assert.ok(sentWithinSecond(backoff, late + 20_000) < 45);
  assert.ok(Math.abs(sentWithinSecond(backoff, late + 25_000) - 100) <= 12);
  // Another replica shares it now.
  backoff.rate = 50;
  assert.ok(Math.abs(sentWithinSecond(backoff, late + 26_000) - 50) <= 6);
});

test("an envelope that fails while others succeed is deferred longer each time, up to ten minutes", () => {
  const deferred = new DeferredEnvelopes();
  let now = 0;
  for (const seconds of [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]) {
    deferred.defer(1, 1_000, true, now);
    deferred.retry();
    assert.deepEqual(deferred.ids(now + seconds * 1_000 - 1), [1]);
    now += seconds * 1_000;
    assert.deepEqual(deferred.ids(now), []);
  }
});
test("in an outage, all others are tried before a failed envelope is tried again, and its end frees all", () => {
  const deferred = new DeferredEnvelopes();
  for (let round = 0; round < 20; round++) {
    for (const id of [1, 2, 3]) deferred.defer(id, 10_000, false, 0);
    assert.deepEqual(deferred.ids(9e9), [1, 2, 3]);
    assert.ok(deferred.retry());
    assert.deepEqual(deferred.ids(0), []);
  }
  assert.ok(!deferred.retry());
});

test.each([
  ["delivered", [200, 201, 202, 204]],
  ["rejected", [400, 401, 403, 404, 413, 415, 422]],
  ["rate_limited", [429]],
  ["failed", [301, 307, 408, 425, 500, 502, 503, 504]],
])("%s: %s", (kind, statuses) => {
  for (const status of statuses) assert.equal(classifyResponse({ status, headers: {} }).kind, kind);
});
test("a 503 may have a Retry-After", () => {
  const outcome = classifyResponse({ status: 503, headers: { "retry-after": "20" } });
  assert.deepEqual(outcome, { kind: "failed", reason: "http_503", mayHaveArrived: false, retryAfterMs: 20_000 });
});

const now = 1_000_000_000_000;
function after(status: number, headers: Record<string, string>) {
  const limits = new RateLimits();
  limits.update(status, headers, now);
  return (category: string) => Math.max(0, limits.until(category) - now) / 1_000;
}

test("named categories are limited, others are not", () => {
  const wait = after(429, {
    "x-sentry-rate-limits": "60:replay;transaction:organization:quota, 2700:error:key",
    "retry-after": "9",
  });
  assert.deepEqual(["replay", "transaction", "error", "feedback"].map(wait), [60, 60, 2_700, 0]);
});
test("no category means all", () =>
  assert.equal(after(429, { "x-sentry-rate-limits": "30::organization" })("session"), 30));
test("limits apply with a 200 too", () =>
  assert.equal(after(200, { "x-sentry-rate-limits": "5:span:project" })("span"), 5));
test("a 429 without limits: Retry-After, else a minute", () => {
  assert.equal(after(429, { "retry-after": "7" })("error"), 7);
  assert.equal(after(429, {})("error"), 60);
  assert.equal(after(429, { "x-sentry-rate-limits": "nonsense" })("error"), 60);
  assert.equal(after(200, { "retry-after": "7" })("error"), 0);
});
test("a shorter limit does not undo a longer one, and none is longer than a day", () => {
  const limits = new RateLimits();
  limits.update(429, { "x-sentry-rate-limits": "60:error:key" }, now);
  limits.update(429, { "x-sentry-rate-limits": "5:error:key" }, now);
  assert.equal(limits.until("error") - now, 60_000);
  assert.equal(after(429, { "retry-after": "99999999" })("error"), 86_400);
});
test("Retry-After as a date", () => {
  assert.equal(retryAfterMs({ "retry-after": new Date(now + 8_000).toUTCString() }, now), 8_000);
  assert.equal(retryAfterMs({ "retry-after": "soon" }, now), undefined);
  assert.equal(retryAfterMs({}, now), undefined);
});

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
  const count = (urls: string[], url: string) => urls.filter((address) => address === url).length;
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
