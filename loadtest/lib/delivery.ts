import crypto from "k6/crypto";
import http from "k6/http";
import type { Options } from "./options.ts";

// Asks the reader beside k6 (reader.mjs) which of the accepted envelopes arrived, and whether they arrived as sent.

/** What the reader found. */
export interface Delivery {
  source: string;
  sent: number;
  missing: { id: string; traceId: string }[];
  altered: { id: string; traceId: string; how: string }[];
}

async function ask(ingest: string, path: string, timeout: number, body?: unknown): Promise<string> {
  const tags = { name: "reader", kind: "reader" };
  const method = body === undefined ? "GET" : "POST";
  const json = body === undefined ? null : JSON.stringify(body);
  const on = await http.asyncRequest(method, ingest + path, json, { timeout: `${timeout}s`, tags });
  if (on.status !== 200) throw new Error(`INGEST ${ingest} does not answer: ${on.error || `${on.status} ${on.body}`}`);
  return `${on.body}`;
}

/**
 * Tells the reader about an accepted envelope. The digest is of everything below the first line, because the spool renews `sent_at` in
 * that line. Throws if the reader does not answer: the run could not be verified.
 */
export async function reportSent(ingest: string, sent: Record<string, string>, body: ArrayBuffer): Promise<void> {
  const items = body.slice(new Uint8Array(body).indexOf(10) + 1);
  await ask(ingest, "/sent", 30, { ...sent, size: items.byteLength, digest: crypto.sha256(items, "hex") });
}

/** The problem with the reader, in one line; empty if it answers. */
export async function readerProblem({ ingest }: Options): Promise<string> {
  return ask(ingest, "/healthz", 5).then(
    () => "",
    ({ message }) => `${message}: start it (README), or set INGEST=off`,
  );
}

/** Waits until everything has arrived, for DELIVERY_WAIT at most. Throws if the reader does not answer. */
export async function readDelivery({ ingest, deliveryWait }: Options, run: string): Promise<Delivery> {
  return JSON.parse(await ask(ingest, `/result?run=${run}&wait=${deliveryWait}`, deliveryWait + 60));
}
