import { describe, expect, it } from "vitest";
import { parseDsn } from "./dsn.ts";
import { envelope, errorEnvelope, replayEnvelope, type Sender, transactionEnvelope } from "./envelope.ts";

const dsn = parseDsn("https://key@o1.ingest.sentry.io/7");
if (!dsn) throw new Error("the DSN of this test is invalid");
const sender: Sender = { dsn, traceId: "a".repeat(32), now: new Date("2026-01-02T03:04:05Z") };

interface Read {
  header: Record<string, unknown>;
  items: { header: Record<string, unknown>; payload: Buffer }[];
}

/** Parses an envelope by the lengths in its item headers; throws if they do not lead to the next line. */
function read(envelope: ArrayBuffer): Read {
  let rest = Buffer.from(envelope);
  const line = () => {
    const end = rest.indexOf("\n");
    const json = JSON.parse(rest.subarray(0, end).toString());
    rest = rest.subarray(end + 1);
    return json;
  };
  const header = line();
  const items: Read["items"] = [];
  while (rest.length > 0) {
    const header = line();
    items.push({ header, payload: rest.subarray(0, header.length) });
    if (rest[header.length] !== 10) throw new Error("the length does not end at a line break");
    rest = rest.subarray(header.length + 1);
  }
  return { header, items };
}

describe("an envelope", () => {
  it("contains its DSN, time and trace", () => {
    const { header } = read(errorEnvelope(sender).body);
    expect(header).toMatchObject({
      dsn: dsn.text,
      sent_at: "2026-01-02T03:04:05.000Z",
      trace: { trace_id: sender.traceId, public_key: "key" },
    });
    expect(header.event_id).toMatch(/^[0-9a-f]{32}$/);
  });

  it("states lengths in bytes, not in characters", () => {
    const payload = new TextEncoder().encode('{"a":"é😀"}');
    const { items } = read(
      envelope(sender, "error", "e", [
        ["event", payload],
        ["event", payload],
      ]).body,
    );
    expect(items.map(({ header }) => header.length)).toEqual([payload.length, payload.length]);
  });

  it.each([
    ["error", errorEnvelope, "event", 5_000, 20_000],
    ["transaction", transactionEnvelope, "transaction", 8_000, 40_000],
  ] as const)("with a %s contains one item with its ids, of a realistic size", (_, build, type, minBytes, maxBytes) => {
    const { eventId, body: built } = build(sender);
    expect(read(built).header.event_id).toBe(eventId);
    const { header, items } = read(built);
    expect(items.map((item) => item.header.type)).toEqual([type]);
    const event = JSON.parse(items[0]?.payload.toString() ?? "");
    expect(event.event_id).toBe(header.event_id);
    expect(event.contexts.trace.trace_id).toBe(sender.traceId);
    expect(built.byteLength).toBeGreaterThan(minBytes);
    expect(built.byteLength).toBeLessThan(maxBytes);
  });

  it("with a replay contains its event, and a recording after a header line", () => {
    const { body: built } = replayEnvelope(sender);
    const { items } = read(built);
    expect(items.map(({ header }) => header.type)).toEqual(["replay_event", "replay_recording"]);
    const recording = items[1]?.payload ?? Buffer.alloc(0);
    expect(JSON.parse(recording.subarray(0, recording.indexOf("\n")).toString())).toEqual({ segment_id: 0 });
    expect(built.byteLength).toBeGreaterThan(400_000);
    expect(built.byteLength).toBeLessThan(10_000_000);
  });

  it("has a new event id every time", () => {
    expect(read(errorEnvelope(sender).body).header.event_id).not.toBe(read(errorEnvelope(sender).body).header.event_id);
  });
});
