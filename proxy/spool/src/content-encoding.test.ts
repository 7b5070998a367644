import assert from "node:assert/strict";
import * as zlib from "node:zlib";
import { test } from "vitest";
import { ContentEncodingError, isSupported, readOpened, withFirstLine } from "./content-encoding.ts";

const text = Buffer.from(`{"sent_at":"old"}\n${"payload\n".repeat(20_000)}\0\xff`, "latin1");
const codings = {
  gzip: [zlib.gzipSync, zlib.gunzipSync],
  deflate: [zlib.deflateSync, zlib.inflateSync],
  br: [zlib.brotliCompressSync, zlib.brotliDecompressSync],
  zstd: [zlib.zstdCompressSync, zlib.zstdDecompressSync],
  "": [(body: Buffer) => body, (body: Buffer) => body],
  identity: [(body: Buffer) => body, (body: Buffer) => body],
} as const;

class Pieces {
  all: Buffer[] = [];
  write(piece: Buffer) {
    this.all.push(piece);
  }
}

async function all(body: Buffer, coding: string, timeoutMs = 60_000): Promise<Buffer> {
  return Buffer.concat((await readOpened(body, coding, timeoutMs, () => new Pieces())).all);
}

const first = async (...args: Parameters<typeof withFirstLine>) => Buffer.concat(await withFirstLine(...args));

for (const [coding, [close, open]] of Object.entries(codings)) {
  test(`${coding || "no coding"}: opened, and given another first line with the rest byte-identical`, async () => {
    assert.deepEqual(await all(close(text), coding), text);
    const changed = await first(close(text), coding, (line) => line.replace("old", "new and longer"));
    const expected = Buffer.concat([Buffer.from('{"sent_at":"new and longer"}'), text.subarray(text.indexOf("\n"))]);
    assert.deepEqual(open(changed), expected);
  });
}
test("a body of one line", async () => {
  assert.equal(`${await first(Buffer.from("{}"), "", () => "{1}")}`, "{1}");
  assert.equal(`${zlib.gunzipSync(await first(zlib.gzipSync("{}"), "gzip", () => "{1}"))}`, "{1}");
});
test("damaged bodies and bombs are refused as an ingest would", async () => {
  const is = (status: number) => (error: unknown) => error instanceof ContentEncodingError && error.status === status;
  await assert.rejects(all(Buffer.from("no gzip"), "gzip"), is(400));
  await assert.rejects(all(zlib.gzipSync(text).subarray(0, 100), "gzip"), is(400));
  await assert.rejects(all(zlib.gzipSync(Buffer.alloc(101 << 20)), "gzip"), is(413));
});
test("a zstd frame that asks for more than 8 MB of memory is refused", async () => {
  const params = { [zlib.constants.ZSTD_c_windowLog]: 24 };
  await assert.rejects(
    all(zlib.zstdCompressSync(Buffer.alloc(20 << 20), { params }), "zstd"),
    /Frame requires too much memory/,
  );
  params[zlib.constants.ZSTD_c_windowLog] = 23;
  assert.equal((await all(zlib.zstdCompressSync(Buffer.alloc(20 << 20), { params }), "zstd")).length, 20 << 20);
});
test("a first line that comes in many pieces", async () => {
  const long = Buffer.from(`{"a":"${"x".repeat(900_000)}"}\nrest`);
  assert.equal(
    `${zlib.gunzipSync(await first(zlib.gzipSync(long), "gzip", (line) => `${line.length}`))}`,
    "900008\nrest",
  );
});
test("what opens to more than a megabyte waits for its turn, or is refused; small ones pass it, and so does delivery", async () => {
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
    const write = (piece: Buffer) => {
      length += piece.length;
      // In the second reading, with the only place for large ones taken.
      if (length < 2 << 20 || passed) return;
      waited = all(large, "gzip", 0);
      passed = Promise.all([all(tiny, "gzip"), first(tiny, "gzip", (line) => line)]);
      enter();
    };
    return { write };
  };
  const reading = readOpened(large, "gzip", 60_000, start);
  await entered;
  await assert.rejects(waited as Promise<unknown>, { status: 503 });
  const [read] = (await passed) ?? [];
  assert.deepEqual(read, text);
  await reading;
  assert.equal((await all(large, "gzip")).length, 8 << 20);
});
test("a place is given back whatever became of the body", async () => {
  for (let i = 0; i < 4; i++) await assert.rejects(all(Buffer.from("no gzip"), "gzip"), { status: 400 });
  const start = () => ({
    write() {
      throw new Error("not this");
    },
  });
  for (let i = 0; i < 4; i++) await assert.rejects(readOpened(zlib.gzipSync(text), "gzip", 60_000, start), /not this/);
  assert.deepEqual(await all(zlib.gzipSync(text), "gzip"), text);
});
test("other codings are not known", () => {
  assert.ok(!isSupported("compress") && !isSupported("gzip, br") && !isSupported("constructor") && isSupported("zstd"));
});
