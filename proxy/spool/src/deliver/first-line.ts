import { pipeline } from "node:stream/promises";
import { decompress, encoderFor } from "../content-encoding.ts";
import { Semaphore } from "../semaphore.ts";

/** An encoder needs 8 MB beside the decoder's 16 MB. Separate from the semaphores for receiving, so that neither waits for the other. */
const codecs = new Semaphore(2);

/**
 * Returns the body with its first line replaced, in chunks, in the same encoding. It is compressed again rather than sent
 * decompressed because an ingest limits the size on the wire, and a replay within those 20 MB may be larger when decompressed.
 * Throws ContentEncodingError.
 */
export async function replaceFirstLine(
  body: Buffer,
  encoding: string,
  replace: (line: string) => string,
): Promise<Buffer[]> {
  const createEncoder = encoderFor(encoding);
  if (!createEncoder) {
    const end = body.includes("\n") ? body.indexOf("\n") : body.length;
    return [Buffer.from(replace(body.toString("utf8", 0, end))), body.subarray(end)];
  }
  const result: Buffer[] = [];
  await codecs.acquire(1, Number.POSITIVE_INFINITY);
  try {
    await pipeline(
      decompress(body, encoding),
      replacement(replace),
      createEncoder(),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) result.push(chunk);
      },
    );
  } finally {
    codecs.release(1);
  }
  return result;
}

/** A pipeline step that replaces the first line. The receiver has checked that the line is at most 1 MB long. */
function replacement(replace: (line: string) => string) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let line: Buffer[] | undefined = [];
    for await (const chunk of chunks) {
      const end: number = line ? chunk.indexOf("\n") : 0;
      if (!line) yield chunk;
      else if (end === -1) line.push(chunk);
      else {
        yield Buffer.from(replace(Buffer.concat([...line, chunk.subarray(0, end)]).toString()));
        yield chunk.subarray(end);
        line = undefined;
      }
    }
    if (line) yield Buffer.from(replace(Buffer.concat(line).toString()));
  };
}
