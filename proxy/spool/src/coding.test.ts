import assert from "node:assert/strict";
import { test } from "node:test";
import * as zlib from "node:zlib";
import { isKnown, opened, Unreadable, withFirstLine } from "./coding.ts";

const text = Buffer.from(`{"sent_at":"old"}\n${"payload\n".repeat(20_000)}\0\xff`, "latin1");
const codings = {
  gzip: [zlib.gzipSync, zlib.gunzipSync],
  deflate: [zlib.deflateSync, zlib.inflateSync],
  br: [zlib.brotliCompressSync, zlib.brotliDecompressSync],
  zstd: [zlib.zstdCompressSync, zlib.zstdDecompressSync],
  "": [(body: Buffer) => body, (body: Buffer) => body],
  identity: [(body: Buffer) => body, (body: Buffer) => body],
} as const;

async function all(body: Buffer, coding: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of opened(body, coding)) pieces.push(piece);
  return Buffer.concat(pieces);
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
  const is = (status: number) => (error: unknown) => error instanceof Unreadable && error.status === status;
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
test("few are opened at once, whatever becomes of them, and who waits for too long is refused", async () => {
  const body = zlib.gzipSync(text);
  const two = [opened(body, "gzip"), opened(body, "gzip")];
  for (const one of two) await one.next();
  await assert.rejects(opened(body, "gzip", 1).next(), { status: 503 });
  const third = opened(body, "gzip");
  const piece = third.next();
  await two[0]?.return(undefined);
  assert.ok((await piece).value);
  await third.return(undefined);
  await assert.rejects(all(Buffer.from("no gzip"), "gzip"), { status: 400 });
  assert.deepEqual(await all(body, "gzip"), text);
});
test("other codings are not known", () => {
  assert.ok(!isKnown("compress") && !isKnown("gzip, br") && !isKnown("constructor") && isKnown("zstd"));
});
