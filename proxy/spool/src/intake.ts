import type { IncomingMessage } from "node:http";
import type { Bounds } from "./bounds.ts";
import { Budget } from "./budget.ts";
import { isKnown, readOpened, Unreadable } from "./coding.ts";
import type { Destination } from "./destination.ts";
import { EnvelopeReader, NotAnEnvelope } from "./envelope.ts";
import type { Journal } from "./journal.ts";
import { sayNowAndThen } from "./log.ts";
import type { Arrival, Store } from "./store.ts";
import { fallback, worthier } from "./worth.ts";

/** What the proxy is told. */
export interface Reply {
  status: number;
  body: Record<string, string>;
  /** What there was no room for. */
  lost?: { reason: string; category: string };
}

/** Sentry's limit for a request, and the proxy's. */
const largest = 20 << 20;
const inMemory = 32 << 20;
/** For memory and again for decoders: together shorter than the proxy's 10 s, which would take no answer for a failure. */
const patience = 4_000;

/** Takes envelopes from the proxy, one request each. */
export class Intake {
  #destinations: Map<string, Destination>;
  #store: Store;
  #bounds: Bounds;
  #journal: Journal;
  #memory = new Budget(inMemory);

  constructor(destinations: Destination[], store: Store, bounds: Bounds, journal: Journal) {
    this.#destinations = new Map(destinations.map((destination) => [destination.url, destination]));
    this.#store = store;
    this.#bounds = bounds;
    this.#journal = journal;
  }

  /** Answers one request: 200 only once its envelope is on disk. Rejects when the database or the connection fails. */
  async take(request: IncomingMessage): Promise<Reply> {
    const destination = this.#destinations.get(headerOf(request, "x-spool-to"));
    if (!destination) {
      sayNowAndThen(
        "destination",
        "SENTRY_DSN: refused envelopes for another DSN than this spool's: restart proxy and spool",
      );
      return refusal(403, "X-Spool-To names no address that this spool delivers to");
    }
    const length = Number(request.headers["content-length"]);
    if (!(length >= 0)) return refusal(411, "an envelope comes with its Content-Length");
    if (length > largest) return refusal(413, "an envelope is 20 MB at most");
    if (!(await this.#memory.take(length, patience))) return refusal(503, "more comes in than can be written");
    try {
      return await this.#keep(destination, request, await bodyOf(request, length));
    } finally {
      this.#memory.give(length);
    }
  }

  async #keep(destination: Destination, request: IncomingMessage, body: Buffer): Promise<Reply> {
    const headers = {
      contentType: headerOf(request, "content-type"),
      contentEncoding: headerOf(request, "content-encoding").toLowerCase(),
      userAgent: headerOf(request, "user-agent"),
      clientIp: headerOf(request, "x-forwarded-for"),
    };
    let read: { category: string; eventId: string | undefined };
    try {
      read = await contentOf(destination, body, headers.contentEncoding);
    } catch (error) {
      if (error instanceof Unreadable) return refusal(error.status, `the body ${error.message}`);
      if (error instanceof NotAnEnvelope) return refusal(400, `the envelope ${error.message}`);
      throw error;
    }
    const { category, eventId } = read;
    const arrival: Arrival = { destination: destination.url, category, received: Date.now(), headers, body };
    const full = await this.#journal.write(() => this.#bounds.makeRoom(arrival) ?? this.#store.add(arrival));
    if (full) {
      const answer = refusal(503, full === "disk" ? "the disk is full" : "SPOOL_MAX_MB is reached");
      return { ...answer, lost: { reason: "full", category } };
    }
    return { status: 200, body: eventId ? { id: eventId } : {} };
  }
}

/** What an envelope is worth and is called; the category `security` for a CSP report, which is none. */
async function contentOf({ takes }: Destination, body: Buffer, coding: string) {
  if (takes === "report") return { category: "security", eventId: undefined };
  if (!isKnown(coding)) throw new Unreadable(415, `has a Content-Encoding that no ingest takes`);
  const reader = await readOpened(body, coding, patience, () => new ContentReader());
  reader.end();
  return { category: reader.category ?? fallback, eventId: reader.eventId };
}

/** Reads an envelope and keeps the worthiest category of its items; undefined where it has none. */
class ContentReader extends EnvelopeReader {
  category: string | undefined;

  constructor() {
    super((item) => {
      this.category = worthier(this.category, item);
    });
  }
}

const refusal = (status: number, reason: string): Reply => ({ status, body: { reason } });

function headerOf({ headers }: IncomingMessage, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value : "";
}

/** Reads a body into one buffer of the announced length; throws when the connection ends before. */
async function bodyOf(request: IncomingMessage, length: number): Promise<Buffer> {
  const body = Buffer.allocUnsafe(length);
  let at = 0;
  for await (const piece of request) at += (piece as Buffer).copy(body, at);
  if (at !== length) throw new Error("the body ended early");
  return body;
}
