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

/** A text as UTF-8. `TextEncoder` would need k6 2.2. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  const escaped = encodeURIComponent(text);
  const bytes = new Uint8Array(escaped.length);
  let size = 0;
  for (let at = 0; at < escaped.length; at++) {
    const isEscape = escaped[at] === "%";
    bytes[size++] = isEscape ? Number.parseInt(escaped.slice(at + 1, at + 3), 16) : escaped.charCodeAt(at);
    if (isEscape) at += 2;
  }
  return bytes.slice(0, size);
}
