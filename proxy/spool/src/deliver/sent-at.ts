import { pipeline } from "node:stream/promises";
import { decompress, encoderFor } from "../content-encoding.ts";
import { Semaphore } from "../semaphore.ts";

/** An encoder needs 8 MB beside the decoder's 16 MB. Separate from the semaphore for receiving, so that neither waits for the other. */
const codecs = new Semaphore(2);

/**
 * Returns an envelope, in chunks and in its encoding, with `sent_at` set to now: an ingest shifts all timestamps by the time between
 * `sent_at` and arrival, which must not include the time spent in the spool. It is compressed again because an ingest limits the size
 * on the wire, and a replay within those 20 MB may be larger when decompressed. Throws if the body is not an envelope.
 * https://develop.sentry.dev/sdk/foundations/transport/envelopes/
 */
export async function withSentAt(body: Buffer, encoding: string, now = new Date()): Promise<Buffer[]> {
  const fresh = (start: Buffer): Buffer[] => {
    const end = start.includes("\n") ? start.indexOf("\n") : start.length;
    const header = { ...JSON.parse(start.toString("utf8", 0, end)), sent_at: now.toISOString() };
    return [Buffer.from(JSON.stringify(header)), start.subarray(end)];
  };
  const createEncoder = encoderFor(encoding);
  if (!createEncoder) return fresh(body);
  async function* freshChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let start: Buffer[] | undefined = [];
    for await (const chunk of chunks) {
      start?.push(chunk);
      if (!start) yield chunk;
      else if (chunk.includes("\n")) {
        yield* fresh(Buffer.concat(start));
        start = undefined;
      }
    }
    if (start) yield* fresh(Buffer.concat(start));
  }
  await codecs.acquire(1);
  try {
    const result: Buffer[] = [];
    await pipeline(decompress(body, encoding), freshChunks, createEncoder(), async (chunks) => {
      for await (const chunk of chunks) result.push(chunk);
    });
    return result;
  } finally {
    codecs.release(1);
  }
}
