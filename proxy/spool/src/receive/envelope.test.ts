import assert from "node:assert/strict";
import { test } from "vitest";
import { EnvelopeReader, InvalidEnvelope } from "./envelope.ts";

function read(text: string | Buffer, step = Number.POSITIVE_INFINITY) {
  const items: string[] = [];
  const reader = new EnvelopeReader((type) => items.push(type));
  const body = Buffer.from(text);
  for (let at = 0; at < body.length; at += step) reader.write(body.subarray(at, at + step));
  reader.end();
  return { id: reader.eventId, items };
}

const binary = Buffer.from([0, 10, 10, 255, 123, 10]);
const mixed = Buffer.concat([
  Buffer.from('{"event_id":"ab"}\n{"type":"replay_event"}\n{"a":"\\n"}\n{"type":"replay_recording","length":6}\n'),
  binary,
  Buffer.from('\n{"type":"attachment","length":0}\n\n{"type":"event","length":2}\n{}'),
]);

test("items with and without a length, binary payloads included, in chunks of any size", () => {
  const items = ["replay_event", "replay_recording", "attachment", "event"];
  for (const step of [1, 2, 3, 7, 64, 1_000]) assert.deepEqual(read(mixed, step), { id: "ab", items });
});
test("a header alone, with and without a newline", () => {
  assert.deepEqual(read('{"event_id":"x"}'), { id: "x", items: [] });
  assert.deepEqual(read("{}\n"), { id: undefined, items: [] });
});
test("blank lines between items and a truncated payload are accepted", () => {
  assert.deepEqual(read('{}\n\n{"type":"session"}\n{}\n\n').items, ["session"]);
  assert.deepEqual(read('{}\n{"type":"event","length":99}\n{').items, ["event"]);
});
test("an invalid envelope is an error", () => {
  for (const text of ["", "\n", "hello\n", "[1\n", '"a"\n', "{}\nhello\n", "null\n"])
    assert.throws(() => read(text), InvalidEnvelope);
  assert.throws(() => read("x".repeat(1_100_000), 65_536), { message: "has a header longer than 1 MB" });
});
test("a decompression bomb of blank lines or of items costs no more than its bytes", { timeout: 60_000 }, () => {
  const chunk = Buffer.alloc(16 << 10, "\n");
  const blank = new EnvelopeReader(() => {});
  blank.write(Buffer.from("{}\n"));
  for (let i = 0; i < 6_400; i++) blank.write(chunk);
  blank.end();
  const items = new EnvelopeReader(() => {});
  items.write(Buffer.from("{}\n"));
  const many = () => {
    for (let i = 0; i < 6_400; i++) items.write(Buffer.from("{}\n\n".repeat(4 << 10)));
  };
  assert.throws(many, { message: "has more than 100000 items" });
});
test("blanks before the header count towards its length", () => {
  assert.deepEqual(read('\r\n \t{"event_id":"x"}\n{"type":"event"}\n{}'), { id: "x", items: ["event"] });
  assert.throws(() => read(Buffer.alloc(2 << 20, " "), 65_536), { message: "has a header longer than 1 MB" });
});
test("a type that is not a string is ignored", () => {
  assert.deepEqual(read('{}\n{"type":{"toString":1}}\n{}\n{"type":[[]]}\n{}').items, ["", ""]);
});
