import { inflateRawSync } from "node:zlib";

/**
 * Returns the files of a zip archive by name; there may be bytes before the archive. Throws if there is no archive. Reads the central directory:
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT 4.3.12
 */
export function unzip(bytes: Buffer): Map<string, Buffer> {
  const end = bytes.lastIndexOf(Buffer.from("PK\x05\x06"));
  const first = bytes.indexOf(Buffer.from("PK\x03\x04"));
  if (end < 0 || first < 0) throw new Error("not a zip archive");
  const size = bytes.readUInt32LE(end + 12);
  // The archive's offsets do not count the bytes before it.
  const shift = end - size - bytes.readUInt32LE(end + 16);
  const files = new Map<string, Buffer>();
  for (let at = end - size; at < end; ) {
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
    const name = bytes.toString("utf8", at + 46, at + 46 + (nameLength as number));
    const local = bytes.readUInt32LE(at + 42) + shift;
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const packed = bytes.subarray(start, start + bytes.readUInt32LE(at + 20));
    files.set(name, bytes.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed));
    at += 46 + (nameLength as number) + (extra as number) + (comment as number);
  }
  return files;
}
