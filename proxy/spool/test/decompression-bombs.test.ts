import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { envelope, newId, send } from "./support/envelopes.ts";
import { isEmpty, metric } from "./support/metrics.ts";
import { type Stack, startStack } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({}, { args: ["--memory=256m", "--memory-swap=256m"] });
});
afterAll(() => stack?.stop());

/** 92 KB that decompress to 90 MB of blank lines, and a similar body that decompresses to a million items. */
const lines = gzipSync(Buffer.concat([Buffer.from(`{"event_id":"${newId()}"}\n`), Buffer.alloc(90 << 20, "\n")]));
const items = gzipSync(`{}\n${'{"type":"event"}\n{}\n'.repeat(1_000_000)}`);

test("decompression bombs in an outage: other compressed envelopes are accepted meanwhile, and the outage ends by itself", async () => {
  await stack.ingest({ status: 503 });
  const status = async (body: Buffer) => (await send(stack.url, body, { "content-encoding": "gzip" })).status;
  const bombs = Promise.all(Array.from({ length: 4 }, () => status(lines)));
  const manyItems = Promise.all(Array.from({ length: 2 }, () => status(items)));
  const small = Array.from({ length: 100 }, () => gzipSync(envelope("event", newId(), 5_000)));
  expect(await Promise.all(small.map(status))).toEqual(Array(100).fill(200));
  // Large bodies are decompressed one at a time: 503 after waiting too long.
  for (const one of await manyItems) expect([400, 503]).toContain(one);
  const accepted = (await bombs).filter((one) => one === 200).length;
  expect(accepted).toBeGreaterThan(0);
  await stack.ingest();
  await waitUntil(() => isEmpty(stack), 120_000);
  expect(await metric(stack, 'delivered_total{category="error"}')).toBe(100);
  expect(await metric(stack, 'delivered_total{category="default"}')).toBe(accepted);
});
