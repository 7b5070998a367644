import crypto from "k6/crypto";

export const randomBytes = (size: number): Uint8Array<ArrayBuffer> => new Uint8Array(crypto.randomBytes(size));

export const randomHex = (bytes: number): string =>
  Array.from(randomBytes(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The bytes of an ASCII text. k6 has `TextEncoder` since 2.2 only. */
export const asciiBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Array.from(text, (char) => char.charCodeAt(0)));
