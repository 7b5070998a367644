import { pipeline } from "node:stream/promises";
import { decompress, encoderFor } from "../content-encoding.ts";
import { Semaphore } from "../semaphore.ts";

/** An encoder needs 8 MB beside the decoder's 16 MB. Separate from the semaphore for receiving, so that neither waits for the other. */
const codecs = new Semaphore(2);

/**
 * Returns the body with its first line replaced, in chunks, in the same encoding. It is compressed again rather than sent
 * decompressed because an ingest limits the size on the wire, and a replay within those 20 MB may be larger when decompressed.
 * Throws BodyError.
 */
export async function replaceFirstLine(
  body: Buffer,
  encoding: string,
  replace: (line: string) => string,
): Promise<Buffer[]> {
  const replaced = (start: Buffer): Buffer[] => {
    const end = start.includes("\n") ? start.indexOf("\n") : start.length;
    return [Buffer.from(replace(start.toString("utf8", 0, end))), start.subarray(end)];
  };
  const createEncoder = encoderFor(encoding);
  if (!createEncoder) return replaced(body);
  const replaceInChunks = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let start: Buffer[] | undefined = [];
    for await (const chunk of chunks) {
      start?.push(chunk);
      if (!start) yield chunk;
      else if (chunk.includes("\n")) {
        yield* replaced(Buffer.concat(start));
        start = undefined;
      }
    }
    if (start) yield* replaced(Buffer.concat(start));
  };
  const result: Buffer[] = [];
  await codecs.acquire(1, Number.POSITIVE_INFINITY);
  try {
    await pipeline(decompress(body, encoding), replaceInChunks, createEncoder(), async (chunks) => {
      for await (const chunk of chunks) result.push(chunk);
    });
  } finally {
    codecs.release(1);
  }
  return result;
}
