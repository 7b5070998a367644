import type { Dsn } from "./dsn.ts";
import { asciiBytes, randomBytes, randomHex } from "./random.ts";

export interface Envelope {
  name: string;
  /** Empty if it has no event. */
  eventId: string;
  body: ArrayBuffer;
  compressed?: boolean;
  untimed?: boolean;
}

export interface Sender {
  dsn: Dsn;
  traceId: string;
  now: Date;
}

type Item = [type: string, payload: object | Uint8Array, more?: object];

const SDK = { name: "sentry.javascript.nextjs", version: "10.78.0" };
const [environment, release, url] = ["loadtest", "culvert-loadtest@1.0.0", "https://localhost/loadtest"];

/** The fields of every event, with padding in place of stack frames and spans. */
const event = ({ traceId, now }: Sender, eventId: string, bytes: number) => ({
  event_id: eventId,
  timestamp: now.getTime() / 1000,
  platform: "javascript",
  environment,
  release,
  sdk: SDK,
  request: { url, headers: { "User-Agent": "culvert-loadtest" } },
  contexts: { trace: { trace_id: traceId, span_id: randomHex(8), op: "pageload" } },
  extra: { padding: "x".repeat(bytes) },
});

/** What browsers send, in the sizes of real envelopes. */
const KINDS = {
  error: (sender: Sender, id: string): Item[] => {
    const values = [{ type: "LoadTestError", value: "thrown by the load test" }];
    return [["event", { ...event(sender, id, 7_000), level: "error", exception: { values } }]];
  },
  transaction: (sender: Sender, id: string): Item[] => {
    const common = event(sender, id, 13_000);
    const more = { type: "transaction", transaction: "/loadtest", start_timestamp: common.timestamp - 1, spans: [] };
    return [["transaction", { ...common, ...more }]];
  },
  /** A real recording is compressed, so this one is random bytes. */
  replay: (sender: Sender, id: string): Item[] => [
    ["replay_event", { ...event(sender, id, 0), type: "replay_event", replay_id: id, segment_id: 0, urls: [url] }],
    ["replay_recording", joined([line({ segment_id: 0 }), randomBytes(1_500_000)])],
  ],
  /** Near Sentry's limit of 20 MB: https://develop.sentry.dev/sdk/foundations/envelopes/envelope-items/ */
  largest: (sender: Sender, id: string): Item[] => [
    ["event", { ...event(sender, id, 0), level: "error" }],
    ["attachment", randomBytes(19_000_000), { filename: "log.txt", attachment_type: "event.attachment" }],
  ],
  session: ({ now: started }: Sender): Item[] => {
    const more = { status: "ok", errors: 0, attrs: { release, environment } };
    return [["session", { sid: randomHex(16), init: true, started, timestamp: started, ...more }]];
  },
  log: ({ now, traceId }: Sender): Item[] => {
    const body = `logged by the load test ${randomHex(8)}`;
    const more = { trace_id: traceId, level: "info", severity_number: 9, body, attributes: {} };
    const items = Array.from({ length: 10 }, () => ({ timestamp: now.getTime() / 1000, ...more }));
    return [["log", { items }, { item_count: 10, content_type: "application/vnd.sentry.items.log+json" }]];
  },
  feedback: (sender: Sender, id: string): Item[] => {
    const { contexts, ...common } = event(sender, id, 0);
    const feedback = { message: "sent by the load test", source: "widget", url };
    const picture = { filename: "screenshot.png", content_type: "image/png", attachment_type: "event.attachment" };
    return [
      ["feedback", { ...common, type: "feedback", level: "info", contexts: { ...contexts, feedback } }],
      ["attachment", randomBytes(50_000), picture],
    ];
  },
};

/** https://develop.sentry.dev/sdk/foundations/transport/envelopes/#serialization-format */
export function makeEnvelope(name: keyof typeof KINDS, sender: Sender): Envelope {
  const { dsn, traceId, now } = sender;
  const eventId = name === "session" || name === "log" ? "" : randomHex(16);
  const trace = { trace_id: traceId, public_key: dsn.publicKey, environment, sample_rate: "1", sampled: "true" };
  const header = { ...(eventId && { event_id: eventId }), sent_at: now.toISOString(), dsn: dsn.text, sdk: SDK, trace };
  const parts: Uint8Array[] = [line(header)];
  for (const [type, content, more] of KINDS[name](sender, eventId)) {
    const payload = content instanceof Uint8Array ? content : asciiBytes(JSON.stringify(content));
    parts.push(line({ type, length: payload.length, ...more }), payload, asciiBytes("\n"));
  }
  return { name, eventId, body: joined(parts).buffer };
}

function joined(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const line = (value: unknown) => asciiBytes(`${JSON.stringify(value)}\n`);
