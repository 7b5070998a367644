import crypto from "k6/crypto";
import http from "k6/http";
import type { Options } from "../lib/options.ts";
import type { Example } from "./examples.ts";

// Asks the reader beside k6 (reader.mjs) which of the accepted envelopes arrived, and whether they arrived as sent.

interface Sent {
  run: string;
  eventId: string;
  body: ArrayBuffer;
  traceId: string;
}

/** What the reader found. */
export interface Delivery {
  source: string;
  sent: number;
  missing: { id: string; traceId: string }[];
  altered: { id: string; traceId: string; how: string }[];
}

const json = { headers: { "content-type": "application/json" }, tags: { name: "reader", kind: "reader" } };

/**
 * Tells the reader about an accepted envelope. The digest is of everything below the first line, because the spool renews `sent_at` in
 * that line. Throws if the reader does not answer: the run could not be verified.
 */
export async function reportSent(reader: string, { run, eventId, body, traceId }: Sent): Promise<void> {
  const bytes = new Uint8Array(body);
  const items = body.slice(bytes.indexOf(10) + 1);
  const sent = { run, id: eventId, traceId, size: items.byteLength, digest: crypto.sha256(items, "hex") };
  const { status, error } = await http.asyncRequest("POST", `${reader}/sent`, JSON.stringify(sent), json);
  if (status !== 204) throw new Error(`the reader at INGEST ${reader} does not answer: ${error || status}`);
}

/** The problem with the reader, in one line; empty if it answers. */
export async function readerProblem({ ingest }: Options): Promise<string> {
  const params = { timeout: "5s", tags: json.tags };
  const { status, error } = await http.asyncRequest("GET", `${ingest}/healthz`, null, params);
  return status === 200
    ? ""
    : `INGEST ${ingest} does not answer (${error || status}): start it (README), or set INGEST=off`;
}

/** Waits until everything has arrived, for DELIVERY_WAIT at most. Throws if the reader does not answer. */
export async function readDelivery({ ingest, deliveryWait }: Options, run: string): Promise<Delivery> {
  const params = { timeout: `${deliveryWait + 30}s`, tags: json.tags };
  const { status, error, body } = await http.asyncRequest(
    "GET",
    `${ingest}/result?run=${run}&wait=${deliveryWait}`,
    null,
    params,
  );
  if (status !== 200 || typeof body !== "string")
    throw new Error(`INGEST ${ingest} does not answer: ${error || status}`);
  return JSON.parse(body);
}

/** One example for each way in which a delivery failed. */
export function deliveryExamples({ source, sent, missing, altered }: Delivery): Example[] {
  const of = (what: string, count: number) => `${count} of ${sent} envelopes ${what} (read from ${source})`;
  return [
    ...missing.slice(0, 3).map(({ id, traceId }) => ({
      check: "delivered" as const,
      at: `event ${id}`,
      traceId,
      text: `answered 200 and did not arrive; ${of("are missing", missing.length)}`,
    })),
    ...altered.slice(0, 3).map(({ id, traceId, how }) => ({
      check: "unaltered" as const,
      at: `event ${id}`,
      traceId,
      text: `${how}; ${of("arrived altered", altered.length)}`,
    })),
  ];
}
