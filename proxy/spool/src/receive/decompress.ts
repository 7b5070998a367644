import { ContentEncodingError, decompress, isIdentity, maxDecompressedBytes, tooLarge } from "../content-encoding.ts";
import { Semaphore } from "../semaphore.ts";

const smallBytes = 1 << 20;

/**
 * A decoder needs up to 16 MB whatever the size of the body, so few run at once. Bodies that decompress to more than a megabyte
 * have a semaphore of their own: neither decompression bombs nor large replays delay an error.
 */
const stages = [
  { decoders: new Semaphore(2), maxBytes: smallBytes },
  { decoders: new Semaphore(1), maxBytes: maxDecompressedBytes },
];

/** Receives a decompressed body, chunk by chunk. */
export interface Reader {
  write(chunk: Buffer): void;
}

/**
 * Passes the decompressed body to a reader that `createReader` makes, and returns that reader. A body that turns out to be larger
 * than a megabyte is started again with a new reader as soon as the decoder for large bodies is free. Throws ContentEncodingError if
 * the body is damaged or a bomb, or if no decoder is free within `timeoutMs`; also throws what the reader throws.
 */
export async function readDecompressed<R extends Reader>(
  body: Buffer,
  encoding: string,
  timeoutMs: number,
  createReader: () => R,
): Promise<R> {
  if (isIdentity(encoding)) {
    const reader = createReader();
    reader.write(body);
    return reader;
  }
  const deadline = performance.now() + timeoutMs;
  for (const { decoders, maxBytes } of stages) {
    if (!(await decoders.acquire(1, Math.max(0, deadline - performance.now()))))
      throw new ContentEncodingError(503, "cannot be decompressed now: too many others are waiting");
    try {
      const reader = createReader();
      if (await readUpTo(maxBytes, decompress(body, encoding), reader)) return reader;
    } finally {
      decoders.release(1);
    }
  }
  throw tooLarge();
}

/** Returns false as soon as there are more than `maxBytes`. */
async function readUpTo(maxBytes: number, chunks: AsyncIterable<Buffer>, reader: Reader): Promise<boolean> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxBytes) return false;
    reader.write(chunk);
  }
  return true;
}
