import type { Dsn } from "./dsn.ts";
import { randomBytes, randomHex, utf8 } from "./random.ts";

export interface Envelope {
  /** What it contains, for the results. */
  name: string;
  eventId: string;
  body: ArrayBuffer;
}

/** What an SDK writes in the header of every envelope. */
export interface Sender {
  dsn: Dsn;
  traceId: string;
  now: Date;
}

type Item = [type: string, payload: Uint8Array<ArrayBuffer>];

const SDK = { name: "sentry.javascript.nextjs", version: "10.78.0" };

/**
 * Serialises an envelope: a header line, then for each item a header line with its length in bytes, and the payload.
 *
 * Rule: https://develop.sentry.dev/sdk/foundations/transport/envelopes/#serialization-format
 */
export function envelope({ dsn, traceId, now }: Sender, name: string, eventId: string, items: Item[]): Envelope {
  const trace = {
    trace_id: traceId,
    public_key: dsn.publicKey,
    environment: "loadtest",
    sample_rate: "1",
    sampled: "true",
  };
  const header = { event_id: eventId, sent_at: now.toISOString(), dsn: dsn.text, sdk: SDK, trace };
  const parts = [line(header)];
  for (const [type, payload] of items) parts.push(line({ type, length: payload.length }), payload, utf8("\n"));
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return { name, eventId, body: whole.buffer };
}

const json = (value: unknown) => utf8(JSON.stringify(value));
const line = (value: unknown) => utf8(`${JSON.stringify(value)}\n`);
const times = <T>(count: number, item: (at: number) => T) => Array.from({ length: count }, (_, at) => item(at));
const chunk = (at: number) => `/_next/static/chunks/${(at * 2654435761).toString(16).padStart(16, "0")}.js`;

/** The fields of every event. */
const common = ({ now }: Sender, eventId: string) => ({
  event_id: eventId,
  timestamp: now.getTime() / 1000,
  platform: "javascript",
  environment: "loadtest",
  release: "culvert-loadtest@1.0.0",
  sdk: SDK,
  request: { url: "https://localhost/loadtest", headers: { "User-Agent": "culvert-loadtest" } },
});

/** An error as a browser sends it: 20 stack frames and 30 breadcrumbs, about 8 KB. */
export function errorEnvelope(sender: Sender): Envelope {
  const eventId = randomHex(16);
  const frames = times(20, (at) => ({
    filename: `app://${chunk(at)}`,
    function: `render${at}`,
    lineno: 1,
    colno: at * 37,
  }));
  const event = {
    ...common(sender, eventId),
    level: "error",
    exception: { values: [{ type: "LoadTestError", value: "thrown by the load test", stacktrace: { frames } }] },
    breadcrumbs: times(30, (at) => ({
      timestamp: sender.now.getTime() / 1000 - 30 + at,
      category: at % 3 ? "ui.click" : "fetch",
      data: { method: "GET", url: `/products/${at}`, status_code: 200 },
      message: `main > section:nth-child(${at}) > button.primary`,
    })),
    contexts: { trace: { trace_id: sender.traceId, span_id: randomHex(8) } },
  };
  return envelope(sender, "error", eventId, [["event", json(event)]]);
}

/** A page load's transaction with 40 spans, about 14 KB; a browser sends several of them on a busy page. */
export function transactionEnvelope(sender: Sender): Envelope {
  const [eventId, root] = [randomHex(16), randomHex(8)];
  const end = sender.now.getTime() / 1000;
  const transaction = {
    ...common(sender, eventId),
    type: "transaction",
    transaction: "/loadtest",
    start_timestamp: end - 1,
    contexts: { trace: { trace_id: sender.traceId, span_id: root, op: "pageload", origin: "auto.pageload.nextjs" } },
    spans: times(40, (at) => ({
      trace_id: sender.traceId,
      parent_span_id: root,
      span_id: randomHex(8),
      op: at % 4 ? "resource.script" : "http.client",
      description: chunk(at),
      start_timestamp: end - 1 + at / 100,
      timestamp: end - 0.9 + at / 100,
      data: { "http.response_transfer_size": 1000 + at, "sentry.origin": "auto.resource.browser.metrics" },
    })),
  };
  return envelope(sender, "transaction", eventId, [["transaction", json(transaction)]]);
}

/** A segment of a session replay, forty times the size of an error. A real recording is compressed, so this one is random bytes. */
export function replayEnvelope(sender: Sender): Envelope {
  const id = randomHex(16);
  const event = { ...common(sender, id), type: "replay_event", replay_id: id, segment_id: 0, urls: ["/loadtest"] };
  const recording = new Uint8Array([...line({ segment_id: 0 }), ...randomBytes(400_000)]);
  return envelope(sender, "replay", id, [
    ["replay_event", json(event)],
    ["replay_recording", recording],
  ]);
}
