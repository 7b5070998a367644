import assert from "node:assert/strict";
import * as zlib from "node:zlib";
import { test } from "vitest";
import { BodyError, decompressStart } from "./content-encoding.ts";
import { withSentAt } from "./deliver/sent-at.ts";

const same = (body: Buffer) => body;
const encodings: [string, (body: Buffer) => Buffer, (body: Buffer) => Buffer][] = [
  ["", same, same],
  ["gzip", zlib.gzipSync, zlib.gunzipSync],
  ["deflate", zlib.deflateSync, zlib.inflateSync],
  ["br", zlib.brotliCompressSync, zlib.brotliDecompressSync],
  ["zstd", zlib.zstdCompressSync, zlib.zstdDecompressSync],
];
const payload = Buffer.from(`\n${"payload\n".repeat(20_000)}\0\xff`, "latin1");
const envelope = (header: string) => Buffer.concat([Buffer.from(header), payload]);
const text = envelope('{"event_id":"a","sent_at":"2026-01-01T00:00:00.000Z","dsn":"b"}');
const delayMs = 3_661_001;

const all = 100 << 20;
const start = (body: Buffer, encoding: string, maxBytes = all, timeoutMs = 60_000) =>
  decompressStart(body, encoding, maxBytes, timeoutMs);
const fresh = async (body: Buffer, encoding: string) => Buffer.concat(await withSentAt(body, encoding, delayMs));
const is = (status: number) => (error: unknown) => error instanceof BodyError && error.status === status;

test.each(encodings)("'%s' is decompressed; only sent_at is changed", async (encoding, compress, decompress) => {
  assert.deepEqual(await start(compress(text), encoding), text);
  assert.deepEqual(await start(compress(text), encoding, 50), text.subarray(0, 50));
  const expected = envelope('{"event_id":"a","sent_at":"2026-01-01T01:01:01.001Z","dsn":"b"}');
  assert.deepEqual(decompress(await fresh(compress(text), encoding)), expected);
});
const sentAt = (time: unknown) => `{"a":[{"sent_at":"2026-01-01T00:00:00Z"}], "sent_at" : ${time} ,"n":1.0}`;
const odd = '{ "n":[12345678901234567890,1e400,-0],"é\\u00e9":"\u2028", "sent_at":"2026-01-01T07:00:00Z"}\r\n{}';
test.each([
  ["in another zone", sentAt('"2026-01-01T04:00:00+04:00"'), "04:00:00+04:00", "01:01:01.001Z"],
  ["with odd neighbours", odd, "07:00:00Z", "08:01:01.001Z"],
  [
    "behind a long header",
    `{"a":"${"x".repeat(90_000)}","sent_at":"2026-01-01T07:00:00Z"}\n`,
    "07:00:00Z",
    "08:01:01.001Z",
  ],
  ["missing", '{"event_id":"a"}\n{"sent_at":"2026-01-01T00:00:00Z"}\n{}'],
  ["missing in an empty envelope", "{}"],
  ["no time", sentAt('"soon"')],
  ["no text", sentAt("1767225600")],
  ["a list", sentAt('["2026-01-01T00:00:00Z"]')],
  ["beyond all calendars", sentAt('"+275760-09-13T00:00:00Z"')],
  ["a value", sentAt('"sent_at"')],
  ["in a text", '{"a":"\\",\\"sent_at\\":\\"2026-01-01T00:00:00Z\\""}'],
])(
  "the time in the spool is added to a sent_at that is %s; no other byte changes",
  async (_, before, from = "", to = "") => {
    const after = before.replace(from, to);
    assert.equal(`${await fresh(Buffer.from(before), "")}`, after);
    assert.equal(`${zlib.gunzipSync(await fresh(zlib.gzipSync(before), "gzip"))}`, after);
  },
);
test("damaged bodies, decompression bombs and other encodings are rejected as an ingest does", async () => {
  await assert.rejects(start(Buffer.from("no gzip"), "gzip"), is(400));
  await assert.rejects(start(zlib.gzipSync(text).subarray(0, 100), "gzip"), is(400));
  const bomb = envelope("{}\n".padEnd(101 << 20));
  await assert.rejects(fresh(zlib.gzipSync(bomb), "gzip"), is(413));
  for (const encoding of ["compress", "gzip, br", "constructor"]) await assert.rejects(start(text, encoding), is(415));
});
test("two bodies are decompressed at a time, delivery does not wait for them, and errors free a decoder", async () => {
  const body = zlib.gzipSync(text);
  for (let i = 0; i < 4; i++) await assert.rejects(start(Buffer.from("no gzip"), "gzip"), is(400));
  const long = zlib.gzipSync(Buffer.alloc(64 << 20));
  const running = [start(long, "gzip"), start(long, "gzip")];
  await assert.rejects(start(body, "gzip", all, 0), is(503));
  await fresh(body, "gzip");
  await Promise.all(running);
  assert.deepEqual(await start(body, "gzip", all, 0), text);
});
