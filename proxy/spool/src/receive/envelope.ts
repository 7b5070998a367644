/** A body that no ingest would accept. The message says what is wrong with it. */
export class InvalidEnvelope extends Error {}

const newline = 10;
const maxHeaderBytes = 1 << 20;
/** Far more than any SDK sends; a body of 92 KB may decompress to millions of items, each of which has a header to parse. */
const maxItems = 100_000;

/**
 * Reads an envelope chunk by chunk, storing no payload: a 100 MB replay needs little memory.
 * https://develop.sentry.dev/sdk/foundations/transport/envelopes/
 */
export class EnvelopeReader {
  /** The event id in the envelope header, if there is one. */
  eventId: string | undefined;
  #onItem: (type: string) => void;
  #expects: "header" | "item" | "payload" = "header";
  #payloadLeft = 0;
  #line: Buffer[] = [];
  #headerBytes = 0;
  #items = 0;

  /** `onItem` is called with the type of each item. The reader itself stores none: a small body may contain millions. */
  constructor(onItem: (type: string) => void) {
    this.#onItem = onItem;
  }

  /** Reads the next chunk. Throws InvalidEnvelope as soon as a header is not valid. */
  write(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const step = Math.min(this.#payloadLeft, chunk.length - at);
        this.#payloadLeft -= step;
        at += step;
        continue;
      }
      // Byte by byte: a line object for each newline would take minutes for 100 MB of them.
      while (this.#expects !== "payload" && this.#line.length === 0 && isBlank(chunk[at])) at = this.#skipBlank(at);
      if (at === chunk.length) return;
      const end = chunk.indexOf(newline, at);
      if (this.#expects !== "payload") this.#append(chunk.subarray(at, end === -1 ? chunk.length : end));
      if (end === -1) return;
      at = end + 1;
      this.#endLine();
    }
  }

  /** Ends the envelope. Throws InvalidEnvelope if there was no header. */
  end(): void {
    if (this.#payloadLeft === 0) this.#endLine();
    if (this.#expects === "header") throw new InvalidEnvelope("is empty");
  }

  /** Blanks before the envelope header count towards its length: delivery replaces both together. */
  #skipBlank(at: number): number {
    if (this.#expects === "header") this.#countHeaderBytes(1);
    return at + 1;
  }

  #append(part: Buffer): void {
    this.#line.push(part);
    this.#countHeaderBytes(part.length);
  }

  #countHeaderBytes(bytes: number): void {
    this.#headerBytes += bytes;
    if (this.#headerBytes > maxHeaderBytes) throw new InvalidEnvelope("has a header longer than 1 MB");
  }

  #endLine(): void {
    if (this.#expects === "payload") {
      this.#expects = "item";
      return;
    }
    const text = Buffer.concat(this.#line).toString();
    this.#line = [];
    this.#headerBytes = 0;
    if (text.trim() === "") return;
    if (this.#expects === "header") this.#readEnvelopeHeader(parseObject(text));
    else this.#readItemHeader(parseObject(text));
  }

  #readEnvelopeHeader({ event_id }: Record<string, unknown>): void {
    if (typeof event_id === "string") this.eventId = event_id;
    this.#expects = "item";
  }

  /** A payload with a length may contain newlines and is followed by one; without a length, the next newline ends it. */
  #readItemHeader({ type, length }: Record<string, unknown>): void {
    if (++this.#items > maxItems) throw new InvalidEnvelope(`has more than ${maxItems} items`);
    this.#onItem(typeof type === "string" ? type : "");
    if (typeof length === "number") this.#payloadLeft = length + 1;
    else this.#expects = "payload";
  }
}

/** JSON white space: https://www.rfc-editor.org/rfc/rfc8259#section-2 */
const isBlank = (byte: number | undefined) => byte === newline || byte === 32 || byte === 13 || byte === 9;

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {}
  throw new InvalidEnvelope("has a header that is not a JSON object");
}
