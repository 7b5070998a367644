import { pipeline } from "node:stream/promises";
import { decompress, encoderFor } from "../content-encoding.ts";
import { Semaphore } from "../semaphore.ts";

/** An encoder needs 8 MB beside the decoder's 16 MB. Separate from the semaphore for receiving, so that neither waits for the other. */
const codecs = new Semaphore(2);

/**
 * Returns an envelope, in chunks and in its encoding, with `delayMs`, its time in the spool, added to `sent_at`: an ingest corrects a
 * device's clock by the time between `sent_at` and arrival. No other content changes. It is compressed again because an ingest limits the
 * size on the wire, and a replay within those 20 MB may be larger when decompressed. Throws if the body cannot be decompressed.
 * https://develop.sentry.dev/sdk/foundations/transport/envelopes/
 */
export async function withSentAt(body: Buffer, encoding: string, delayMs: number): Promise<Buffer[]> {
  const createEncoder = encoderFor(encoding);
  if (!createEncoder) return shifted(body, delayMs);
  async function* shiftedChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let start: Buffer[] | undefined = [];
    for await (const chunk of chunks) {
      start?.push(chunk);
      if (!start) yield chunk;
      else if (chunk.includes("\n")) {
        yield* shifted(Buffer.concat(start), delayMs);
        start = undefined;
      }
    }
    if (start) yield* shifted(Buffer.concat(start), delayMs);
  }
  await codecs.acquire(1);
  try {
    const result: Buffer[] = [];
    await pipeline(decompress(body, encoding), shiftedChunks, createEncoder(), async (chunks) => {
      for await (const chunk of chunks) result.push(chunk);
    });
    return result;
  } finally {
    codecs.release(1);
  }
}

/** Returns an envelope, of which `start` has the whole header line, with a later `sent_at`; one that is missing or no time stays as it is. */
function shifted(start: Buffer, delayMs: number): Buffer[] {
  const end = start.includes("\n") ? start.indexOf("\n") : start.length;
  let depth = 0;
  let before = ["", ""];
  // Latin-1 keeps every byte. The tokens of JSON (RFC 8259) that tell what a string is.
  const header = start.toString("latin1", 0, end).replaceAll(/"(?:[^"\\]|\\.)*"|[[\]{}:,]/g, (token) => {
    const [name, colon] = before;
    before = [`${colon}`, token];
    if (token === "{" || token === "[") depth++;
    if (token === "}" || token === "]") depth--;
    if (depth !== 1 || name !== '"sent_at"' || colon !== ":") return token;
    const time = new Date(Date.parse(token.slice(1, -1)) + delayMs);
    return Number.isNaN(time.getTime()) ? token : `"${time.toISOString()}"`;
  });
  return [Buffer.from(header, "latin1"), start.subarray(end)];
}
