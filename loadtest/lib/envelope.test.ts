import { expect, it } from "vitest";
import { wellFormed } from "../test/stub.ts";
import { parseDsn } from "./dsn.ts";
import { envelope, errorEnvelope, replayEnvelope, type Sender, transactionEnvelope } from "./envelope.ts";

const dsn = parseDsn("https://key@o1.ingest.sentry.io/7");
if (!dsn) throw new Error("the DSN of this test is invalid");
const sender: Sender = { dsn, traceId: "a".repeat(32), now: new Date("2026-01-02T03:04:05Z") };
const text = (body: ArrayBuffer) => Buffer.from(body).toString("latin1");
const line = (body: ArrayBuffer, at: number) => JSON.parse(text(body).split("\n")[at] ?? "");

it.each([
  ["error", errorEnvelope, "event", 5_000, 20_000],
  ["transaction", transactionEnvelope, "transaction", 8_000, 40_000],
  ["replay", replayEnvelope, "replay_event", 400_000, 10_000_000],
] as const)(
  "an envelope with %s has its DSN, time, trace and ids, and a realistic size",
  (_, build, type, min, max) => {
    const { eventId, body } = build(sender);
    const trace = { trace_id: sender.traceId };
    expect(line(body, 0)).toMatchObject({
      ...{ event_id: eventId, dsn: dsn.text, sent_at: "2026-01-02T03:04:05.000Z" },
      trace: { ...trace, public_key: "key" },
    });
    expect(line(body, 1).type).toBe(type);
    expect(line(body, 2)).toMatchObject({ event_id: eventId, contexts: { trace } });
    expect(wellFormed(text(body))).toBe(true);
    expect(body.byteLength).toBeGreaterThan(min);
    expect(body.byteLength).toBeLessThan(max);
    expect(build(sender).eventId).not.toBe(eventId);
  },
);

it("an envelope states lengths in bytes, not in characters", () => {
  const payload = new TextEncoder().encode('{"a":"é😀"}');
  const { body } = envelope(sender, "error", "e", Array(2).fill(["event", payload]));
  expect(wellFormed(text(body))).toBe(true);
  expect(line(body, 1).length).toBe(payload.length);
});
