import type { Dsn } from "./dsn.ts";
import { asciiBytes, randomBytes, randomHex } from "./random.ts";

export interface Envelope {
  /** What it contains, for the results. */
  name: string;
  /** Empty if it has no event. */
  eventId: string;
  body: ArrayBuffer;
  compressed?: boolean;
}

/** What an SDK writes in the header of every envelope. */
export interface Sender {
  dsn: Dsn;
  traceId: string;
  now: Date;
}

type Item = [type: string, payload: Uint8Array<ArrayBuffer>, more?: object];

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
  const header = { ...(eventId && { event_id: eventId }), sent_at: now.toISOString(), dsn: dsn.text, sdk: SDK, trace };
  const parts = [line(header)];
  for (const [type, payload, more] of items)
    parts.push(line({ type, length: payload.length, ...more }), payload, asciiBytes("\n"));
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return { name, eventId, body: whole.buffer };
}

const json = (value: unknown) => asciiBytes(JSON.stringify(value));
const line = (value: unknown) => asciiBytes(`${JSON.stringify(value)}\n`);

/** Padding of each kind, in place of what a real one has in stack frames, breadcrumbs and spans. */
const BYTES = { error: 7_000, transaction: 13_000, replay: 400_000, picture: 50_000 };

/** The fields of every event. */
const event = ({ traceId, now }: Sender, eventId: string, bytes: number) => ({
  event_id: eventId,
  timestamp: now.getTime() / 1000,
  platform: "javascript",
  environment: "loadtest",
  release: "culvert-loadtest@1.0.0",
  sdk: SDK,
  request: { url: "https://localhost/loadtest", headers: { "User-Agent": "culvert-loadtest" } },
  contexts: { trace: { trace_id: traceId, span_id: randomHex(8), op: "pageload" } },
  extra: { padding: "x".repeat(bytes) },
});

/** An error of the size that a browser sends. */
export function errorEnvelope(sender: Sender): Envelope {
  const eventId = randomHex(16);
  const values = [{ type: "LoadTestError", value: "thrown by the load test" }];
  const error = { ...event(sender, eventId, BYTES.error), level: "error", exception: { values } };
  return envelope(sender, "error", eventId, [["event", json(error)]]);
}

/** A page load's transaction; a browser sends several of them on a busy page. */
export function transactionEnvelope(sender: Sender): Envelope {
  const eventId = randomHex(16);
  const common = event(sender, eventId, BYTES.transaction);
  const start = common.timestamp - 1;
  const transaction = { ...common, type: "transaction", transaction: "/loadtest", start_timestamp: start, spans: [] };
  return envelope(sender, "transaction", eventId, [["transaction", json(transaction)]]);
}

/** A segment of a session replay. A real recording is compressed, so this one is random bytes. */
export function replayEnvelope(sender: Sender): Envelope {
  const id = randomHex(16);
  const replay = { ...event(sender, id, 0), type: "replay_event", replay_id: id, segment_id: 0, urls: ["/loadtest"] };
  const recording = new Uint8Array([...line({ segment_id: 0 }), ...randomBytes(BYTES.replay)]);
  return envelope(sender, "replay", id, [
    ["replay_event", json(replay)],
    ["replay_recording", recording],
  ]);
}

/** A session, which has no event. */
export function sessionEnvelope(sender: Sender): Envelope {
  const started = sender.now.toISOString();
  const attrs = { release: "culvert-loadtest@1.0.0", environment: "loadtest" };
  const session = { sid: randomHex(16), init: true, started, timestamp: started, status: "ok", errors: 0, attrs };
  return envelope(sender, "session", "", [["session", json(session)]]);
}

/** A batch of logs, which has no event either. */
export function logEnvelope(sender: Sender): Envelope {
  const timestamp = sender.now.getTime() / 1000;
  const body = `logged by the load test ${randomHex(8)}`;
  const items = Array.from({ length: 10 }, () => ({
    ...{ timestamp, trace_id: sender.traceId, level: "info", severity_number: 9, body, attributes: {} },
  }));
  const more = { item_count: items.length, content_type: "application/vnd.sentry.items.log+json" };
  return envelope(sender, "log", "", [["log", json({ items }), more]]);
}

/** What a visitor writes, with a picture of the page. */
export function feedbackEnvelope(sender: Sender): Envelope {
  const id = randomHex(16);
  const common = event(sender, id, 0);
  const feedback = { message: "sent by the load test", source: "widget", url: common.request.url };
  const payload = { ...common, type: "feedback", level: "info", contexts: { ...common.contexts, feedback } };
  const picture = { filename: "screenshot.png", content_type: "image/png", attachment_type: "event.attachment" };
  return envelope(sender, "feedback", id, [
    ["feedback", json(payload)],
    ["attachment", randomBytes(BYTES.picture), picture],
  ]);
}
