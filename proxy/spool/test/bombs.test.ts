import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { envelope, hand, isEmpty, metric, newId } from "./report.ts";
import { type Stack, startStack, until } from "./stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({}, { args: ["--memory=256m", "--memory-swap=256m"] });
});
afterAll(() => stack?.stop());

/** 92 KB that open to 90 MB of blank lines, and a few more that open to millions of items. */
const lines = gzipSync(Buffer.concat([Buffer.from(`{"event_id":"${newId()}"}\n`), Buffer.alloc(90 << 20, "\n")]));
const items = gzipSync(`{}\n${'{"type":"event"}\n{}\n'.repeat(1_000_000)}`);

test("bombs in an outage: other compressed envelopes are taken meanwhile, and the outage ends by itself", async () => {
  await stack.ingest({ status: 503 });
  const status = async (body: Buffer) => (await hand(stack.url, body, { "content-encoding": "gzip" })).status;
  const bombs = Promise.all(Array.from({ length: 4 }, () => status(lines)));
  const crowd = Promise.all(Array.from({ length: 2 }, () => status(items)));
  const small = Array.from({ length: 100 }, () => gzipSync(envelope("event", newId(), 5_000)));
  expect(await Promise.all(small.map(status))).toEqual(Array(100).fill(200));
  // One at a time: who waits too long is told to come again.
  for (const one of await crowd) expect([400, 503]).toContain(one);
  const taken = (await bombs).filter((one) => one === 200).length;
  expect(taken).toBeGreaterThan(0);
  await stack.ingest();
  await until(() => isEmpty(stack), 120_000);
  expect(await metric(stack, 'delivered_total{category="error"}')).toBe(100);
  expect(await metric(stack, 'delivered_total{category="default"}')).toBe(taken);
});
