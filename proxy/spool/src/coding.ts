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
import { Budget } from "./budget.ts";

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

/** A decoder takes up to 16 MB, and an encoder 8 MB beside it, whatever the size of the body: at once, few. */
const decoders = new Budget(2);

/** Sentry takes no more, so more is a bomb: https://develop.sentry.dev/sdk/foundations/transport/envelopes/#size-limits */
const largestOpened = 100 << 20;

/** A body that can't be opened. `status` is what an ingest would answer. */
export class Unreadable extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Whether a body with this Content-Encoding can be read here. */
export function isKnown(coding: string): boolean {
  return isOpen(coding) || Object.hasOwn(codings, coding);
}

const isOpen = (coding: string) => coding === "" || coding === "identity";

/**
 * The decompressed body, piece by piece. Throws Unreadable in the middle when it is damaged or a bomb, and at the beginning
 * when others are being opened for `patience` ms.
 */
export async function* opened(
  body: Buffer,
  coding: string,
  patience = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  if (isOpen(coding)) return yield body;
  if (!(await decoders.take(1, patience)))
    throw new Unreadable(503, "can't be opened now: more comes in than can be read");
  try {
    yield* decoded(body, coding);
  } finally {
    decoders.give(1);
  }
}

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
    throw new Unreadable(400, `is no ${coding}: ${(error as Error).message}`);
  }
  if (length > largestOpened) throw new Unreadable(413, "is larger than 100 MB once opened");
}

/**
 * Returns the body with another first line, in pieces, in the same coding. Compressed again rather than sent open: an ingest
 * measures what is on the wire, and a replay within its 20 MB may not be so once opened. Throws Unreadable.
 */
export async function withFirstLine(body: Buffer, coding: string, change: (line: string) => string): Promise<Buffer[]> {
  const encoder = codings[coding]?.close;
  if (!encoder) {
    const end = body.includes("\n") ? body.indexOf("\n") : body.length;
    return [Buffer.from(change(body.toString("utf8", 0, end))), body.subarray(end)];
  }
  const result: Buffer[] = [];
  await decoders.take(1, Number.POSITIVE_INFINITY);
  try {
    await pipeline(decoded(body, coding), changed(change), encoder(), async (pieces: AsyncIterable<Buffer>) => {
      for await (const piece of pieces) result.push(piece);
    });
  } finally {
    decoders.give(1);
  }
  return result;
}

/** A step of a pipeline that replaces the first line of what passes. */
function changed(change: (line: string) => string) {
  return async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let line: Buffer | undefined = Buffer.alloc(0);
    for await (const piece of pieces) {
      if (!line) {
        yield piece;
        continue;
      }
      line = Buffer.concat([line, piece]);
      const end = line.indexOf("\n");
      if (end === -1) continue;
      yield Buffer.from(change(line.toString("utf8", 0, end)));
      yield line.subarray(end);
      line = undefined;
    }
    if (line) yield Buffer.from(change(line.toString()));
  };
}
