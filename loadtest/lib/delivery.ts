import crypto from "k6/crypto";
import http from "k6/http";
import type { Options } from "./options.ts";

/** An envelope that the target accepted, or an action that it ran. */
export interface Sent {
  run: string;
  name: string;
  traceId: string;
  /** The event's, or the digest of what has no event; an action has none. */
  id?: string;
  project?: string;
  body?: ArrayBuffer;
}

interface Finding {
  id: string;
  traceId: string;
  how: string;
}

export interface Delivery {
  source: string;
  sent: number;
  missing: Finding[];
  altered: Finding[];
  repeated: Finding[];
  /** Milliseconds from acceptance to arrival, of a thousand envelopes at most. */
  late: number[];
  actions: number;
  ranTwice: Finding[];
}

export class ReaderError extends Error {}

/** Asks the reader beside k6 (reader.mjs). Throws a ReaderError. */
export async function ask(ingest: string, path: string, timeout: number, body?: unknown): Promise<string> {
  const tags = { name: "reader", kind: "reader" };
  const method = body === undefined ? "GET" : "POST";
  const json = body === undefined ? null : JSON.stringify(body);
  const on = await http.asyncRequest(method, ingest + path, json, { timeout: `${timeout}s`, tags });
  if (on.status !== 200)
    throw new ReaderError(
      `INGEST ${ingest} does not answer: ${on.error || `${on.status} ${on.body}`}: start it (README), or set INGEST=off`,
    );
  return `${on.body}`;
}

/** Tells the reader about an accepted envelope: its header, and the digest of its items. Throws a ReaderError. */
export async function reportSent(ingest: string, { body, ...sent }: Sent): Promise<void> {
  if (!body) return void (await ask(ingest, "/sent", 30, sent));
  const end = new Uint8Array(body).indexOf(10) + 1;
  const items = body.slice(end);
  const header = String.fromCharCode(...new Uint8Array(body, 0, end));
  const digest = crypto.sha256(items, "hex");
  const whole = { ...sent, id: sent.id || digest, header: JSON.parse(header), size: items.byteLength, digest };
  await ask(ingest, "/sent", 30, whole);
}

/** Waits until everything has arrived, for DELIVERY_WAIT at most. Throws a ReaderError. */
export async function readDelivery({ ingest, deliveryWait }: Options, run: string): Promise<Delivery> {
  return JSON.parse(await ask(ingest, `/result?run=${run}&wait=${deliveryWait}`, deliveryWait + 60));
}
