import type { IncomingMessage } from "node:http";
import { ContentEncodingError, isSupported, readOpened } from "../content-encoding.ts";
import type { Destination } from "../destination.ts";
import { logOncePerMinute } from "../log.ts";
import type { Eviction } from "../queue/eviction.ts";
import type { GroupCommit } from "../queue/group-commit.ts";
import { fallback, higherPriority } from "../queue/priority.ts";
import type { NewEnvelope, Store } from "../queue/store.ts";
import { Semaphore } from "../semaphore.ts";
import { EnvelopeReader, InvalidEnvelope } from "./envelope.ts";

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
const timeoutMs = 4_000;

/** Takes envelopes from the proxy, one request each. */
export class Receiver {
  #destinations: Map<string, Destination>;
  #store: Store;
  #eviction: Eviction;
  #commits: GroupCommit;
  #memory = new Semaphore(inMemory);

  constructor(destinations: Destination[], store: Store, eviction: Eviction, commits: GroupCommit) {
    this.#destinations = new Map(destinations.map((destination) => [destination.url, destination]));
    this.#store = store;
    this.#eviction = eviction;
    this.#commits = commits;
  }

  /** Answers one request: 200 only once its envelope is on disk. Rejects when the database or the connection fails. */
  async take(request: IncomingMessage): Promise<Reply> {
    const destination = this.#destinations.get(headerOf(request, "x-spool-destination"));
    if (!destination) {
      logOncePerMinute(
        "destination",
        "SENTRY_DSN: refused envelopes for another DSN than this spool's: restart proxy and spool",
      );
      return reject(403, "X-Spool-Destination names no address that this spool delivers to");
    }
    const length = Number(request.headers["content-length"]);
    if (!(length >= 0)) return reject(411, "an envelope comes with its Content-Length");
    if (length > largest) return reject(413, "an envelope is 20 MB at most");
    if (!(await this.#memory.take(length, timeoutMs))) return reject(503, "more comes in than can be written");
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
      if (error instanceof ContentEncodingError) return reject(error.status, `the body ${error.message}`);
      if (error instanceof InvalidEnvelope) return reject(400, `the envelope ${error.message}`);
      throw error;
    }
    const { category, eventId } = read;
    const arrival: NewEnvelope = { destination: destination.url, category, received: Date.now(), headers, body };
    const full = await this.#commits.write(() => this.#eviction.makeSpace(arrival) ?? this.#store.add(arrival));
    if (full) {
      const answer = reject(503, full === "disk" ? "the disk is full" : "SPOOL_MAX_MB is reached");
      return { ...answer, lost: { reason: "full", category } };
    }
    return { status: 200, body: eventId ? { id: eventId } : {} };
  }
}

/** What an envelope is worth and is called; the category `security` for a CSP report, which is none. */
async function contentOf({ takes }: Destination, body: Buffer, coding: string) {
  if (takes === "report") return { category: "security", eventId: undefined };
  if (!isSupported(coding)) throw new ContentEncodingError(415, `has a Content-Encoding that no ingest takes`);
  const reader = await readOpened(body, coding, timeoutMs, () => new ContentReader());
  reader.end();
  return { category: reader.category ?? fallback, eventId: reader.eventId };
}

/** Reads an envelope and keeps the worthiest category of its items; undefined where it has none. */
class ContentReader extends EnvelopeReader {
  category: string | undefined;

  constructor() {
    super((item) => {
      this.category = higherPriority(this.category, item);
    });
  }
}

const reject = (status: number, reason: string): Reply => ({ status, body: { reason } });

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
