/** A body that no ingest would take either. The message says what is wrong with it. */
export class InvalidEnvelope extends Error {}

const newline = 10;
const longestLine = 1 << 20;
/** Far more than any SDK sends; a body of 92 KB may open to millions, each of which costs what parsing a header does. */
const maxItems = 100_000;

/**
 * Reads an envelope piece by piece, keeping only what its headers log: a 100 MB replay passes through in little memory.
 * https://develop.sentry.dev/sdk/foundations/transport/envelopes/
 */
export class EnvelopeReader {
  /** The event id of the header, when it has one. */
  eventId: string | undefined;
  #onItem: (type: string) => void;
  #expects: "header" | "item" | "payload" = "header";
  #skip = 0;
  #line: Buffer[] = [];
  #length = 0;
  #items = 0;

  /** `onItem` hears the type of each item. None is kept here: a small body may open to millions of them. */
  constructor(onItem: (type: string) => void) {
    this.#onItem = onItem;
  }

  /** Takes the next piece. Throws InvalidEnvelope as soon as a header can't be read. */
  write(piece: Buffer): void {
    let at = 0;
    while (at < piece.length) {
      if (this.#skip > 0) {
        const step = Math.min(this.#skip, piece.length - at);
        this.#skip -= step;
        at += step;
        continue;
      }
      // Blank lines are passed over byte by byte: a line of its own for each newline would take minutes for 100 MB of them.
      while (this.#expects !== "payload" && this.#line.length === 0 && isBlank(piece[at])) at = this.#pass(at);
      if (at === piece.length) return;
      const end = piece.indexOf(newline, at);
      if (this.#expects !== "payload") this.#keep(piece.subarray(at, end === -1 ? piece.length : end));
      if (end === -1) return;
      at = end + 1;
      this.#endLine();
    }
  }

  /** Says that no piece follows. Throws InvalidEnvelope when there was no header. */
  end(): void {
    if (this.#skip === 0) this.#endLine();
    if (this.#expects === "header") throw new InvalidEnvelope("is empty");
  }

  /** What stands before the envelope's header counts as part of it: both are changed as one when it is delivered. */
  #pass(at: number): number {
    if (this.#expects === "header") this.#grow(1);
    return at + 1;
  }

  #keep(part: Buffer): void {
    this.#line.push(part);
    this.#grow(part.length);
  }

  #grow(bytes: number): void {
    this.#length += bytes;
    if (this.#length > longestLine) throw new InvalidEnvelope("has a header longer than 1 MB");
  }

  #endLine(): void {
    if (this.#expects === "payload") {
      this.#expects = "item";
      return;
    }
    const text = Buffer.concat(this.#line).toString();
    this.#line = [];
    this.#length = 0;
    if (text.trim() === "") return;
    if (this.#expects === "header") this.#header(object(text));
    else this.#item(object(text));
  }

  #header({ event_id }: Record<string, unknown>): void {
    if (typeof event_id === "string") this.eventId = event_id;
    this.#expects = "item";
  }

  /** With a length the payload may hold newlines, and one more ends it; without, the next newline does. */
  #item({ type, length }: Record<string, unknown>): void {
    if (++this.#items > maxItems) throw new InvalidEnvelope(`has more than ${maxItems} items`);
    this.#onItem(typeof type === "string" ? type : "");
    if (typeof length === "number") this.#skip = length + 1;
    else this.#expects = "payload";
  }
}

/** White space of JSON: https://www.rfc-editor.org/rfc/rfc8259#section-2 */
const isBlank = (byte: number | undefined) => byte === newline || byte === 32 || byte === 13 || byte === 9;

function object(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {}
  throw new InvalidEnvelope("has a header that is not a JSON object");
}
