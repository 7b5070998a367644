import type { IncomingMessage } from "node:http";
import { BodyError, decompressStart, isCompressed } from "../content-encoding.ts";
import type { Destination } from "../destination.ts";
import { encodingOf, storedHeaders } from "../envelope-headers.ts";
import { logOncePerMinute } from "../log.ts";
import type { Eviction } from "../queue/eviction.ts";
import type { GroupCommit } from "../queue/group-commit.ts";
import type { Store } from "../queue/store.ts";
import { Semaphore } from "../semaphore.ts";
import { categoryOf, maxStartBytes } from "./envelope.ts";

/** The response to the proxy. */
export interface Reply {
  status: number;
  /** No client gets the response to an accepted envelope (njs/ingest-headers.js). */
  body?: Record<string, string>;
  /** Labels of culvert_spool_rejected_total, beside the status, if the queue is full. */
  rejected?: { reason: string; category: string };
}

/** Sentry's limit for a request, and the proxy's. */
const maxBodyBytes = 20 << 20;
/** All bodies that are being received. */
const maxMemoryBytes = 32 << 20;
/** For memory and again for a decoder: together less than the 10 s that the proxy waits for a single spool. It asks the next of several after 2 s. */
const waitTimeoutMs = 4_000;

const unknownLine = "SENTRY_DSN: rejected envelopes for a DSN that this spool does not have: restart proxy and spool";

/** Handles one request of the proxy: 200 only once its envelope is on disk. Rejects if the database or the connection fails. */
export type Receive = (request: IncomingMessage) => Promise<Reply>;

/** Returns a function that receives envelopes for these destinations. */
export function createReceive(
  destinations: Destination[],
  store: Store,
  eviction: Eviction,
  transactions: GroupCommit,
): Receive {
  const byUrl = new Map(destinations.map((destination) => [destination.url, destination]));
  const memory = new Semaphore(maxMemoryBytes);

  const enqueue = async ({ url, accepts }: Destination, request: IncomingMessage, body: Buffer): Promise<Reply> => {
    const headers = storedHeaders(request.headers);
    const encoding = encodingOf(headers);
    const start = accepts === "envelope" && (await decompressStart(body, encoding, maxStartBytes + 1, waitTimeoutMs));
    const category = start ? categoryOf(start) : "security";
    const isLarge = start && start.length > maxStartBytes && isCompressed(encoding);
    const envelope = { destination: url, category, isLarge, received: Date.now(), headers, body };
    const full = await transactions.write(() => eviction.makeSpaceFor(envelope) ?? store.add(envelope));
    if (!full) return { status: 200 };
    const reply = reject(503, full === "disk" ? "the disk is full" : "SPOOL_MAX_MB is reached");
    return { ...reply, rejected: { reason: "full", category } };
  };

  return async (request) => {
    const destination = byUrl.get(`${URL.parse(`${request.headers["x-spool-destination"]}`)}`);
    if (!destination) {
      logOncePerMinute("destination", unknownLine);
      return reject(403, "X-Spool-Destination is not an address of a configured DSN");
    }
    const length = Number(request.headers["content-length"]);
    if (!(length >= 0)) return reject(411, "Content-Length is required");
    if (length > maxBodyBytes) return reject(413, "the body is larger than 20 MB");
    if (!(await memory.acquire(length, waitTimeoutMs)))
      return reject(503, "envelopes arrive faster than they can be written");
    try {
      return await enqueue(destination, request, await readBody(request, length));
    } catch (error) {
      if (error instanceof BodyError) return reject(error.status, error.message);
      throw error;
    } finally {
      memory.release(length);
    }
  };
}

const reject = (status: number, reason: string): Reply => ({ status, body: { reason } });

/** Reads a body of the announced length into one buffer; throws if the connection ends early. */
async function readBody(request: IncomingMessage, length: number): Promise<Buffer> {
  const body = Buffer.allocUnsafe(length);
  let at = 0;
  for await (const chunk of request) at += (chunk as Buffer).copy(body, at);
  if (at !== length) throw new Error("the body ended early");
  return body;
}
