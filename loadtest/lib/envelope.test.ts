import { expect, it } from "vitest";
import { wellFormed } from "../test/stub.ts";
import { parseDsn } from "./dsn.ts";
import { errorEnvelope, replayEnvelope, type Sender, transactionEnvelope } from "./envelope.ts";

const dsn = parseDsn("https://key@o1.ingest.sentry.io/7");
if (!dsn) throw new Error("the DSN of this test is invalid");
const sender: Sender = { dsn, traceId: "a".repeat(32), now: new Date("2026-01-02T03:04:05Z") };
const text = (body: ArrayBuffer) => Buffer.from(body).toString("latin1");
const line = (body: ArrayBuffer, at: number) => JSON.parse(text(body).split("\n")[at] ?? "");

it.each([
  ["event", errorEnvelope, 5_000],
  ["transaction", transactionEnvelope, 8_000],
  ["replay_event", replayEnvelope, 400_000],
] as const)("an envelope with %s has its DSN, time, trace and ids, and a realistic size", (type, build, min) => {
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
  expect(build(sender).eventId).not.toBe(eventId);
});
