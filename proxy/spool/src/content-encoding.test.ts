import assert from "node:assert/strict";
import * as zlib from "node:zlib";
import { test } from "vitest";
import { ContentEncodingError, isSupported } from "./content-encoding.ts";
import { replaceFirstLine } from "./deliver/first-line.ts";
import { readDecompressed } from "./receive/decompress.ts";

const text = Buffer.from(`{"sent_at":"old"}\n${"payload\n".repeat(20_000)}\0\xff`, "latin1");
const encodings = {
  gzip: [zlib.gzipSync, zlib.gunzipSync],
  deflate: [zlib.deflateSync, zlib.inflateSync],
  br: [zlib.brotliCompressSync, zlib.brotliDecompressSync],
  zstd: [zlib.zstdCompressSync, zlib.zstdDecompressSync],
  "": [(body: Buffer) => body, (body: Buffer) => body],
  identity: [(body: Buffer) => body, (body: Buffer) => body],
} as const;

class Collector {
  chunks: Buffer[] = [];
  write(chunk: Buffer) {
    this.chunks.push(chunk);
  }
}

async function decompressed(body: Buffer, encoding: string, timeoutMs = 60_000): Promise<Buffer> {
  return Buffer.concat((await readDecompressed(body, encoding, timeoutMs, () => new Collector())).chunks);
}

const withFirstLine = async (...args: Parameters<typeof replaceFirstLine>) =>
  Buffer.concat(await replaceFirstLine(...args));

for (const [encoding, [compress, decompress]] of Object.entries(encodings)) {
  test(`${encoding || "no encoding"}: decompressed, and its first line replaced with the rest byte-identical`, async () => {
    assert.deepEqual(await decompressed(compress(text), encoding), text);
    const changed = await withFirstLine(compress(text), encoding, (line) => line.replace("old", "new and longer"));
    const expected = Buffer.concat([Buffer.from('{"sent_at":"new and longer"}'), text.subarray(text.indexOf("\n"))]);
    assert.deepEqual(decompress(changed), expected);
  });
}
test("a body of one line", async () => {
  assert.equal(`${await withFirstLine(Buffer.from("{}"), "", () => "{1}")}`, "{1}");
  assert.equal(`${zlib.gunzipSync(await withFirstLine(zlib.gzipSync("{}"), "gzip", () => "{1}"))}`, "{1}");
});
test("damaged bodies and decompression bombs are rejected as an ingest does", async () => {
  const is = (status: number) => (error: unknown) => error instanceof ContentEncodingError && error.status === status;
  await assert.rejects(decompressed(Buffer.from("no gzip"), "gzip"), is(400));
  await assert.rejects(decompressed(zlib.gzipSync(text).subarray(0, 100), "gzip"), is(400));
  await assert.rejects(decompressed(zlib.gzipSync(Buffer.alloc(101 << 20)), "gzip"), is(413));
});
test("a zstd frame that asks for more than 8 MB of memory is rejected", async () => {
  const params = { [zlib.constants.ZSTD_c_windowLog]: 24 };
  await assert.rejects(
    decompressed(zlib.zstdCompressSync(Buffer.alloc(20 << 20), { params }), "zstd"),
    /Frame requires too much memory/,
  );
  params[zlib.constants.ZSTD_c_windowLog] = 23;
  assert.equal(
    (await decompressed(zlib.zstdCompressSync(Buffer.alloc(20 << 20), { params }), "zstd")).length,
    20 << 20,
  );
});
test("a first line in many chunks", async () => {
  const long = Buffer.from(`{"a":"${"x".repeat(900_000)}"}\nrest`);
  assert.equal(
    `${zlib.gunzipSync(await withFirstLine(zlib.gzipSync(long), "gzip", (line) => `${line.length}`))}`,
    "900008\nrest",
  );
});
test("a body that decompresses to more than a megabyte waits for a decoder or is rejected; small ones and delivery do not wait for it", async () => {
  const large = zlib.gzipSync(Buffer.alloc(8 << 20, "x"));
  const tiny = zlib.gzipSync(text);
  let enter = () => {};
  const entered = new Promise<void>((resolve) => {
    enter = resolve;
  });
  let waited: Promise<unknown> | undefined;
  let passed: Promise<unknown[]> | undefined;
  const start = () => {
    let length = 0;
    const write = (chunk: Buffer) => {
      length += chunk.length;
      // In the second pass, with the only decoder for large bodies in use.
      if (length < 2 << 20 || passed) return;
      waited = decompressed(large, "gzip", 0);
      passed = Promise.all([decompressed(tiny, "gzip"), withFirstLine(tiny, "gzip", (line) => line)]);
      enter();
    };
    return { write };
  };
  const reading = readDecompressed(large, "gzip", 60_000, start);
  await entered;
  await assert.rejects(waited as Promise<unknown>, { status: 503 });
  const [read] = (await passed) ?? [];
  assert.deepEqual(read, text);
  await reading;
  assert.equal((await decompressed(large, "gzip")).length, 8 << 20);
});
test("a decoder is free again after any error", async () => {
  for (let i = 0; i < 4; i++) await assert.rejects(decompressed(Buffer.from("no gzip"), "gzip"), { status: 400 });
  const start = () => ({
    write() {
      throw new Error("not this");
    },
  });
  for (let i = 0; i < 4; i++)
    await assert.rejects(readDecompressed(zlib.gzipSync(text), "gzip", 60_000, start), /not this/);
  assert.deepEqual(await decompressed(zlib.gzipSync(text), "gzip"), text);
});
test("other encodings are not supported", () => {
  assert.ok(!isSupported("compress") && !isSupported("gzip, br") && !isSupported("constructor") && isSupported("zstd"));
});
