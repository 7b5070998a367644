import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { afterAll, beforeEach, expect, test } from "vitest";
import { envelope, isEmpty, metric, newId, send } from "./support/envelopes.ts";
import { startStack, waitUntil } from "./support/stack.ts";

// On disk: what lies in a volume in memory would count as the spool's own.
const args = ["--memory=256m", "--memory-swap=256m", "--volume=/var/lib/spool"];
const stack = await startStack({}, { args });
beforeEach(({ onTestFailed }) => onTestFailed(() => stack.replaceSpool(...args)));
afterAll(stack.stop);

const size = 95 << 20;
const start = () => Buffer.from(`{"event_id":"${newId()}"}\n{"type":"event"}\n`);

/** A Zstandard frame of 3 KB that decompresses to 95 MB and asks for a window of this many bytes, a power of 2. RFC 8878, 3.1.1. */
function zstd(window: number): Buffer {
  const block = (last: number, type: number, length: number, bytes: Buffer) => {
    const head = Buffer.alloc(3);
    head.writeUIntLE(last | (type << 1) | (length << 3), 0, 3);
    return [head, bytes];
  };
  const first = start();
  const rest = Array.from({ length: size >> 17 }, () => block(0, 1, 1 << 17, Buffer.from("x"))).flat();
  const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (Math.log2(window) - 10) << 3]);
  return Buffer.concat([frame, ...block(0, 0, first.length, first), ...rest, ...block(1, 0, 0, Buffer.alloc(0))]);
}

function brotli(): Buffer {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 24 };
  return brotliCompressSync(Buffer.concat([start(), Buffer.alloc(size, "x")]), { params });
}

async function many(count: number, encoding: string, body: Buffer, atOnce = count): Promise<number[]> {
  const statuses: number[] = [];
  const client = async () => {
    while (count-- > 0) statuses.push((await send(stack.url, body, { "content-encoding": encoding })).status);
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return statuses;
}

test("small bodies that decompress to 95 MB do not exhaust the memory, when received and when delivered", async () => {
  const body = brotli();
  await stack.ingest({ status: 503 });
  expect(await many(8, "zstd", zstd(128 << 20))).toEqual(Array(8).fill(400));
  expect(await many(4, "zstd", zstd(8 << 20))).toEqual(Array(4).fill(200));
  for (let i = 0; i < 3; i++) expect(await many(4, "br", body)).toEqual(Array(4).fill(200));
  await stack.ingest();
  await waitUntil(() => isEmpty(stack));
  expect(await metric(stack, 'delivered_total{category="error"}')).toBe(16);
  expect(await stack.on("spool", "inspect", "-f", "{{.State.Running}} {{.State.OOMKilled}}")).toBe("true false");
});

test("decompression bombs in an outage: other compressed envelopes are accepted meanwhile, and the outage ends by itself", async () => {
  // Meanwhile, idle connections end.
  const lines = gzipSync(Buffer.concat([Buffer.from("{}\n"), Buffer.alloc(110 << 20, "\n")]));
  const items = gzipSync(`{}\n${'{"type":"session"}\n{}\n'.repeat(1_000_000)}`);
  const header = gzipSync(`{"a":"${"x".repeat(1 << 20)}"}\n`);
  await stack.ingest({ status: 503 });
  // Few at once: what has waited 4 s for one of two decoders is rejected.
  const bombs = Promise.all([many(4, "gzip", lines, 2), many(2, "gzip", items), many(60, "gzip", header, 2)]);
  expect(await many(100, "gzip", gzipSync(envelope("feedback", newId(), 5_000)), 2)).toEqual(Array(100).fill(200));
  expect(await bombs).toEqual([Array(4).fill(200), Array(2).fill(200), Array(60).fill(400)]);
  await stack.ingest();
  await waitUntil(() => isEmpty(stack));
  expect(await metric(stack, 'delivered_total{category="feedback"}')).toBe(100);
  expect(await metric(stack, 'delivered_total{category="session"}')).toBe(2);
  expect(await metric(stack, 'dropped_total{reason="unreadable",category="default"}')).toBe(4);
});
