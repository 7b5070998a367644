/** Random bytes; `getRandomValues` returns at most 65,536 at once. */
export function randomBytes(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, Math.min(size, at + 65_536)));
  return bytes;
}

export function randomHex(bytes: number): string {
  return Array.from(randomBytes(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

let turn = Math.floor(Math.random() * 1000);

/** The next item in turn, so that even a short run covers all. Throws if there are none. */
export function nextOf<T>(items: readonly T[]): T {
  const item = items[turn++ % items.length];
  if (item === undefined) throw new Error("nothing to choose from");
  return item;
}

/** One item at random, each equally likely. Throws if there are none. */
export function pick<T>(items: readonly T[]): T {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error("nothing to choose from");
  return item;
}

/** The bytes of an ASCII text. k6 has `TextEncoder` since 2.2 only. */
export const asciiBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Array.from(text, (char) => char.charCodeAt(0)));
