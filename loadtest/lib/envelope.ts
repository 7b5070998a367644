import type { Dsn } from "./dsn.ts";
import { randomBytes, randomHex, utf8 } from "./random.ts";

interface Item {
  header: Record<string, unknown>;
  payload: Uint8Array;
}

export interface Envelope {
  eventId: string;
  body: ArrayBuffer;
}

/** What an SDK writes in the header of every envelope. */
export interface Sender {
  dsn: Dsn;
  traceId: string;
  now: Date;
}

/**
 * Serialises an envelope: a header line, then for each item a header line with its length in bytes, and the payload.
 *
 * Rule: https://develop.sentry.dev/sdk/foundations/transport/envelopes/#serialization-format
 */
export function envelope({ dsn, traceId, now }: Sender, eventId: string, items: Item[]): Envelope {
  const header = {
    event_id: eventId,
    sent_at: now.toISOString(),
    dsn: dsn.text,
    sdk: SDK,
    trace: { trace_id: traceId, public_key: dsn.publicKey, environment: "loadtest", sample_rate: "1", sampled: "true" },
  };
  const parts = [line(header)];
  for (const { header, payload } of items) parts.push(line({ ...header, length: payload.length }), payload, NEW_LINE);
  return { eventId, body: concat(parts) };
}

const SDK = { name: "sentry.javascript.nextjs", version: "10.78.0" };
const NEW_LINE = utf8("\n");

function line(json: unknown): Uint8Array {
  return utf8(`${JSON.stringify(json)}\n`);
}

function concat(parts: Uint8Array[]): ArrayBuffer {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole.buffer;
}

/** An error as a browser sends it: 20 stack frames and 30 breadcrumbs, about 10 KB. */
export function errorEnvelope(sender: Sender): Envelope {
  const eventId = randomHex(16);
  const seconds = sender.now.getTime() / 1000;
  const event = {
    ...common(sender, eventId),
    level: "error",
    exception: {
      values: [
        { type: "LoadTestError", value: "thrown by the load test, not by a user", stacktrace: { frames: FRAMES } },
      ],
    },
    breadcrumbs: Array.from({ length: 30 }, (_, at) => ({
      timestamp: seconds - 30 + at,
      category: at % 3 ? "ui.click" : "fetch",
      type: "default",
      data: { method: "GET", url: `/products/${at}`, status_code: 200 },
      message: `main > section:nth-child(${at}) > button.primary`,
    })),
    contexts: { trace: { trace_id: sender.traceId, span_id: randomHex(8) } },
  };
  return envelope(sender, eventId, [json("event", event)]);
}

const FRAMES = Array.from({ length: 20 }, (_, at) => ({
  filename: `app:///_next/static/chunks/${chunkName(at)}.js`,
  function: `renderWithHooks${at}`,
  in_app: at > 12,
  lineno: 1,
  colno: 1000 + at * 37,
}));

function chunkName(at: number): string {
  return (at * 2654435761).toString(16).padStart(16, "0");
}

/** A page load's transaction with 40 spans, about 14 KB; a browser sends several of them on a busy page. */
export function transactionEnvelope(sender: Sender): Envelope {
  const eventId = randomHex(16);
  const end = sender.now.getTime() / 1000;
  const root = randomHex(8);
  const transaction = {
    ...common(sender, eventId),
    type: "transaction",
    transaction: "/loadtest",
    start_timestamp: end - 1,
    contexts: { trace: { trace_id: sender.traceId, span_id: root, op: "pageload", origin: "auto.pageload.nextjs" } },
    spans: Array.from({ length: 40 }, (_, at) => ({
      trace_id: sender.traceId,
      parent_span_id: root,
      span_id: randomHex(8),
      op: at % 4 ? "resource.script" : "http.client",
      description: `/_next/static/chunks/${chunkName(at)}.js`,
      start_timestamp: end - 1 + at / 100,
      timestamp: end - 0.9 + at / 100,
      data: { "http.response_transfer_size": 1000 + at, "sentry.origin": "auto.resource.browser.metrics" },
    })),
    transaction_info: { source: "route" },
  };
  return envelope(sender, eventId, [json("transaction", transaction)]);
}

/** A segment of a session replay: its event and a recording. A real recording is compressed, so this one is random bytes. */
export function replayEnvelope(sender: Sender, bytes = 400_000): Envelope {
  const replayId = randomHex(16);
  const event = {
    ...common(sender, replayId),
    type: "replay_event",
    replay_id: replayId,
    segment_id: 0,
    urls: ["/loadtest"],
  };
  const recording = new Uint8Array(concat([line({ segment_id: 0 }), randomBytes(bytes)]));
  return envelope(sender, replayId, [
    json("replay_event", event),
    { header: { type: "replay_recording" }, payload: recording },
  ]);
}

function json(type: string, payload: unknown): Item {
  return { header: { type, content_type: "application/json" }, payload: utf8(JSON.stringify(payload)) };
}

function common({ now }: Sender, eventId: string): Record<string, unknown> {
  return {
    event_id: eventId,
    timestamp: now.getTime() / 1000,
    platform: "javascript",
    environment: "loadtest",
    release: "culvert-loadtest@1.0.0",
    sdk: SDK,
    request: { url: "https://localhost/loadtest", headers: { "User-Agent": "culvert-loadtest" } },
  };
}
