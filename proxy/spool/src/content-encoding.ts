import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  constants,
  createBrotliCompress,
  createBrotliDecompress,
  createDeflate,
  createGunzip,
  createGzip,
  createInflate,
  createZstdCompress,
  createZstdDecompress,
} from "node:zlib";
import { Semaphore } from "./semaphore.ts";

/** The content codings that Sentry's ingest takes: https://develop.sentry.dev/sdk/foundations/transport/compression/ */
const codings: Record<string, { open: () => Transform; close: () => Transform }> = {
  gzip: { open: createGunzip, close: createGzip },
  deflate: { open: createInflate, close: createDeflate },
  // Brotli's default is its slowest by far; 5 is what servers use for what they compress once.
  br: {
    open: createBrotliDecompress,
    close: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  },
  zstd: { open: () => createZstdDecompress(smallWindow), close: createZstdCompress },
};

/** A frame may ask for 128 MB of memory before its first byte; over HTTP 8 MB is the most: https://www.rfc-editor.org/rfc/rfc9659 */
const smallWindow = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

/**
 * A decoder takes up to 16 MB, and an encoder 8 MB beside it, whatever the size of the body: at once, few. Receiving and delivering have
 * their own, and so has what opens to more than a megabyte, so that neither an outage's bombs nor large replays keep an error waiting.
 */
const receiving = { small: new Semaphore(2), large: new Semaphore(1) };
const delivering = new Semaphore(2);
const small = 1 << 20;

/** Sentry takes no more, so more is a bomb: https://develop.sentry.dev/sdk/foundations/transport/envelopes/#size-limits */
const largestOpened = 100 << 20;

/** A body that can't be opened. `status` is what an ingest would answer. */
export class ContentEncodingError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Whether a body with this Content-Encoding can be read here. */
export function isSupported(coding: string): boolean {
  return isOpen(coding) || Object.hasOwn(codings, coding);
}

const isOpen = (coding: string) => coding === "" || coding === "identity";

/** What is given a decompressed body, piece by piece. */
export interface Reader {
  write(piece: Buffer): void;
}

/**
 * Gives the decompressed body to a reader and returns that. `start` makes it; what opens to more than a megabyte is begun again with a
 * new one, once its turn has come. Throws ContentEncodingError when the body is damaged or a bomb, or when others are being opened for `timeoutMs`
 * ms, and what the reader throws.
 */
export async function readOpened<R extends Reader>(
  body: Buffer,
  coding: string,
  timeoutMs: number,
  start: () => R,
): Promise<R> {
  if (isOpen(coding)) {
    const reader = start();
    reader.write(body);
    return reader;
  }
  const end = performance.now() + timeoutMs;
  for (const [slots, most] of [
    [receiving.small, small],
    [receiving.large, largestOpened],
  ] as const) {
    if (!(await slots.take(1, Math.max(0, end - performance.now()))))
      throw new ContentEncodingError(503, "can't be opened now: more comes in than can be read");
    try {
      const reader = start();
      if (await isReadUpTo(most, decoded(body, coding), reader)) return reader;
    } finally {
      slots.give(1);
    }
  }
  throw tooLarge();
}

async function isReadUpTo(most: number, pieces: AsyncIterable<Buffer>, reader: Reader): Promise<boolean> {
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > most) return false;
    reader.write(piece);
  }
  return true;
}

const tooLarge = () => new ContentEncodingError(413, "is larger than 100 MB once opened");

async function* decoded(body: Buffer, coding: string): AsyncGenerator<Buffer> {
  const decoder = codings[coding]?.open() as Transform;
  decoder.end(body);
  let length = 0;
  try {
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > largestOpened) break;
      yield piece;
    }
  } catch (error) {
    throw new ContentEncodingError(400, `is no ${coding}: ${(error as Error).message}`);
  }
  if (length > largestOpened) throw tooLarge();
}

/**
 * Returns the body with another first line, in pieces, in the same coding. Compressed again rather than sent open: an ingest
 * measures what is on the wire, and a replay within its 20 MB may not be so once opened. Throws ContentEncodingError.
 */
export async function withFirstLine(body: Buffer, coding: string, change: (line: string) => string): Promise<Buffer[]> {
  const encoder = codings[coding]?.close;
  if (!encoder) {
    const end = body.includes("\n") ? body.indexOf("\n") : body.length;
    return [Buffer.from(change(body.toString("utf8", 0, end))), body.subarray(end)];
  }
  const result: Buffer[] = [];
  await delivering.take(1, Number.POSITIVE_INFINITY);
  try {
    await pipeline(decoded(body, coding), changed(change), encoder(), async (pieces: AsyncIterable<Buffer>) => {
      for await (const piece of pieces) result.push(piece);
    });
  } finally {
    delivering.give(1);
  }
  return result;
}

/** A step of a pipeline that replaces the first line of what passes, which receiver has found to be 1 MB at most. */
function changed(change: (line: string) => string) {
  return async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let line: Buffer[] | undefined = [];
    for await (const piece of pieces) {
      const end: number = line ? piece.indexOf("\n") : 0;
      if (!line) yield piece;
      else if (end === -1) line.push(piece);
      else {
        yield Buffer.from(change(Buffer.concat([...line, piece.subarray(0, end)]).toString()));
        yield piece.subarray(end);
        line = undefined;
      }
    }
    if (line) yield Buffer.from(change(Buffer.concat(line).toString()));
  };
}
