import type { Transform } from "node:stream";
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

/** The encodings that Sentry's ingest accepts: https://develop.sentry.dev/sdk/foundations/transport/compression/ */
const codecs: Record<string, { decoder: () => Transform; encoder: () => Transform }> = {
  gzip: { decoder: createGunzip, encoder: createGzip },
  deflate: { decoder: createInflate, encoder: createDeflate },
  // Brotli's default quality is by far its slowest; 5 is what servers use for dynamic content.
  br: {
    decoder: createBrotliDecompress,
    encoder: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  },
  zstd: { decoder: () => createZstdDecompress(zstdWindow), encoder: createZstdCompress },
};

/** A frame may ask for 128 MB of memory before its first byte; HTTP allows 8 MB: https://www.rfc-editor.org/rfc/rfc9659 */
const zstdWindow = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

/** Sentry's own limit, so a larger body is a decompression bomb: https://develop.sentry.dev/sdk/foundations/transport/envelopes/#size-limits */
export const maxDecompressedBytes = 100 << 20;

/** A body that cannot be decompressed. `status` is what an ingest would answer. */
export class ContentEncodingError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Whether the body is not compressed. */
export const isIdentity = (encoding: string) => encoding === "" || encoding === "identity";

/** Whether a body with this Content-Encoding can be read here. */
export function isSupported(encoding: string): boolean {
  return isIdentity(encoding) || Object.hasOwn(codecs, encoding);
}

/** Returns what makes an encoder, which allocates its memory at once; undefined for identity. */
export function encoderFor(encoding: string): (() => Transform) | undefined {
  return codecs[encoding]?.encoder;
}

/** Yields the decompressed body of a supported encoding, in chunks. Throws ContentEncodingError if it is damaged or a bomb. */
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
    throw new ContentEncodingError(400, `is not valid ${encoding}: ${(error as Error).message}`);
  }
  if (length > maxDecompressedBytes) throw tooLarge();
}

/** The error for a body above the limit. */
export const tooLarge = () => new ContentEncodingError(413, "is larger than 100 MB when decompressed");
