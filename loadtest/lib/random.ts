import crypto from "k6/crypto";

export const randomBytes = (size: number): Uint8Array<ArrayBuffer> => new Uint8Array(crypto.randomBytes(size));

/** At most 32 bytes. */
export const randomHex = (bytes: number): string => crypto.sha256(crypto.randomBytes(32), "hex").slice(0, 2 * bytes);

/** The bytes of an ASCII text. k6 has `TextEncoder` since 2.2 only. */
export const asciiBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Array.from(text, (char) => char.charCodeAt(0)));
