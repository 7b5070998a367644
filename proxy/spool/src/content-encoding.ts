import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import { Semaphore } from "./semaphore.ts";

/** A frame may ask for 128 MB of memory before its first byte; HTTP allows 8 MB: https://www.rfc-editor.org/rfc/rfc9659 */
const zstdWindow = { params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } };
/** Brotli's default quality is by far its slowest; 5 is what servers use for dynamic content. */
const brotliQuality = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } };

/** The encodings that Sentry's ingest accepts: https://develop.sentry.dev/sdk/foundations/transport/compression/ */
const codecs: Record<string, { decoder: () => Transform; encoder: () => Transform }> = {
  gzip: { decoder: zlib.createGunzip, encoder: zlib.createGzip },
  deflate: { decoder: zlib.createInflate, encoder: zlib.createDeflate },
  br: { decoder: zlib.createBrotliDecompress, encoder: () => zlib.createBrotliCompress(brotliQuality) },
  zstd: { decoder: () => zlib.createZstdDecompress(zstdWindow), encoder: zlib.createZstdCompress },
};

/** Sentry's own limit, so a larger body is a decompression bomb: https://develop.sentry.dev/sdk/foundations/transport/envelopes/#size-limits */
const maxDecompressedBytes = 100 << 20;

/** A body that is not accepted, at least not now. `status` is that of the response. */
export class BodyError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Whether a body with this Content-Encoding is compressed. */
export const isCompressed = (encoding: string) => encoding !== "" && encoding !== "identity";

/** Returns what makes an encoder, which allocates its memory at once; undefined for identity. */
export function encoderFor(encoding: string): (() => Transform) | undefined {
  return codecs[encoding]?.encoder;
}

/** Yields the decompressed body of a supported encoding, in chunks. Throws BodyError if it is damaged or a bomb. */
export async function* decompress(body: Buffer, encoding: string): AsyncGenerator<Buffer> {
  const decoder = codecs[encoding]?.decoder() as Transform;
  decoder.end(body);
  let length = 0;
  try {
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxDecompressedBytes) break;
      yield chunk;
    }
  } catch (error) {
    throw new BodyError(400, `the body is not valid ${encoding}: ${(error as Error).message}`);
  }
  if (length > maxDecompressedBytes) throw new BodyError(413, "the body is larger than 100 MB when decompressed");
}

/** A decoder needs up to 16 MB whatever the size of the body. */
const decoders = new Semaphore(2);

/**
 * Returns the first `maxBytes` of a body, decompressed; what follows is not looked at. Throws BodyError if the encoding is not
 * supported, if the body is damaged, or if no decoder is free within `timeoutMs`.
 */
export async function decompressStart(
  body: Buffer,
  encoding: string,
  maxBytes: number,
  timeoutMs: number,
): Promise<Buffer> {
  if (!isCompressed(encoding)) return body.subarray(0, maxBytes);
  if (!Object.hasOwn(codecs, encoding)) throw new BodyError(415, "the body has an unsupported Content-Encoding");
  if (!(await decoders.acquire(1, timeoutMs)))
    throw new BodyError(503, "the body cannot be decompressed now: too many others are waiting");
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of decompress(body, encoding)) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= maxBytes) break;
    }
    return Buffer.concat(chunks, Math.min(length, maxBytes));
  } finally {
    decoders.release(1);
  }
}
