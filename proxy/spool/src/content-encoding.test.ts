import assert from "node:assert/strict";
import * as zlib from "node:zlib";
import { test } from "vitest";
import { BodyError, decompressStart } from "./content-encoding.ts";
import { replaceFirstLine } from "./deliver/first-line.ts";

const text = Buffer.from(`{"sent_at":"old"}\n${"payload\n".repeat(20_000)}\0\xff`, "latin1");
const encodings = {
  gzip: [zlib.gzipSync, zlib.gunzipSync],
  deflate: [zlib.deflateSync, zlib.inflateSync],
  br: [zlib.brotliCompressSync, zlib.brotliDecompressSync],
  zstd: [zlib.zstdCompressSync, zlib.zstdDecompressSync],
  "": [(body: Buffer) => body, (body: Buffer) => body],
  identity: [(body: Buffer) => body, (body: Buffer) => body],
} as const;

const all = 100 << 20;
const decompressed = (body: Buffer, encoding: string, maxBytes = all, timeoutMs = 60_000) =>
  decompressStart(body, encoding, maxBytes, timeoutMs);

const withFirstLine = async (...args: Parameters<typeof replaceFirstLine>) =>
  Buffer.concat(await replaceFirstLine(...args));

for (const [encoding, [compress, decompress]] of Object.entries(encodings)) {
  test(`${encoding || "no encoding"}: decompressed, and its first line replaced with the rest byte-identical`, async () => {
    assert.deepEqual(await decompressed(compress(text), encoding), text);
    assert.deepEqual(await decompressed(compress(text), encoding, 50), text.subarray(0, 50));
    const changed = await withFirstLine(compress(text), encoding, (line) => line.replace("old", "new and longer"));
    const expected = Buffer.concat([Buffer.from('{"sent_at":"new and longer"}'), text.subarray(text.indexOf("\n"))]);
    assert.deepEqual(decompress(changed), expected);
  });
}
test("a body of one line", async () => {
  assert.equal(`${await withFirstLine(Buffer.from("{}"), "", () => "{1}")}`, "{1}");
  assert.equal(`${zlib.gunzipSync(await withFirstLine(zlib.gzipSync("{}"), "gzip", () => "{1}"))}`, "{1}");
});
const is = (status: number) => (error: unknown) => error instanceof BodyError && error.status === status;

test("damaged bodies and decompression bombs are rejected as an ingest does", async () => {
  await assert.rejects(decompressed(Buffer.from("no gzip"), "gzip"), is(400));
  await assert.rejects(decompressed(zlib.gzipSync(text).subarray(0, 100), "gzip"), is(400));
  const bomb = zlib.gzipSync(Buffer.alloc(101 << 20));
  await assert.rejects(
    withFirstLine(bomb, "gzip", (line) => line),
    is(413),
  );
});
test("a zstd frame that asks for more than 8 MB of memory is rejected", async () => {
  const compress = (windowLog: number) =>
    zlib.zstdCompressSync(Buffer.alloc(20 << 20), { params: { [zlib.constants.ZSTD_c_windowLog]: windowLog } });
  await assert.rejects(decompressed(compress(24), "zstd"), /Frame requires too much memory/);
  assert.equal((await decompressed(compress(23), "zstd")).length, 20 << 20);
});
test("only the start of a body is decompressed: a bomb, or damage behind it, does not matter", async () => {
  const bomb = zlib.gzipSync(Buffer.alloc(101 << 20, "x"));
  assert.equal((await decompressed(bomb, "gzip", 256 << 10)).length, 256 << 10);
  assert.equal((await decompressed(bomb.subarray(0, 50_000), "gzip", 256 << 10)).length, 256 << 10);
});
test("a first line in many chunks", async () => {
  const long = Buffer.from(`{"a":"${"x".repeat(90_000)}"}\nrest`);
  const changed = await withFirstLine(zlib.gzipSync(long), "gzip", (line) => `${line.length}`);
  assert.equal(`${zlib.gunzipSync(changed)}`, "90008\nrest");
});
test("two bodies are decompressed at a time, delivery does not wait for them, and errors free a decoder", async () => {
  const body = zlib.gzipSync(text);
  for (let i = 0; i < 4; i++) await assert.rejects(decompressed(Buffer.from("no gzip"), "gzip"), is(400));
  const long = zlib.gzipSync(Buffer.alloc(64 << 20));
  const running = [decompressed(long, "gzip"), decompressed(long, "gzip")];
  await assert.rejects(decompressed(body, "gzip", all, 0), is(503));
  assert.deepEqual(zlib.gunzipSync(await withFirstLine(body, "gzip", (line) => line)), text);
  await Promise.all(running);
  assert.deepEqual(await decompressed(body, "gzip", all, 0), text);
});
test("other encodings are not supported", async () => {
  for (const encoding of ["compress", "gzip, br", "constructor"])
    await assert.rejects(decompressed(text, encoding), is(415));
});
