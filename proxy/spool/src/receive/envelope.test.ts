import assert from "node:assert/strict";
import { test } from "vitest";
import { categoryOf } from "./envelope.ts";

const read = (text: string | Buffer) => categoryOf(Buffer.from(text));
const rejects = (text: string | Buffer, message: string) =>
  assert.throws(() => read(text), { status: 400, message: `the envelope ${message}` });

test("items with and without a length, binary payloads included", () => {
  const replay = '{"event_id":"ab"}\n{"type":"replay_event"}\n{"a":"\\n"}\n{"type":"replay_recording","length":6}\n';
  const binary = Buffer.from([0, 10, 10, 255, 123, 10]);
  assert.equal(read(Buffer.concat([Buffer.from(replay), binary])), "replay");
  const rest = Buffer.from('\n{"type":"attachment","length":0}\n\n{"type":"event","length":2}\n{}');
  assert.equal(read(Buffer.concat([Buffer.from(replay), binary, rest])), "error");
});
test("a header alone, with and without a newline", () => {
  assert.equal(read('{"event_id":"x"}'), "default");
  assert.equal(read("{}\n"), "default");
});
test("blank lines between items and a truncated payload are accepted", () => {
  assert.equal(read('{}\n\n{"type":"session"}\n{}\n\n'), "session");
  assert.equal(read('{}\n{"type":"event","length":99}\n{'), "error");
});
test("an invalid envelope is an error", () => {
  for (const text of ["", "\n", "hello\n", "[1\n", '"a"\n', "{}\nhello\n", "null\n"])
    rejects(text, "has a header that is not a JSON object");
});
test("a header of 16 KB is accepted, a longer one is not, wherever it is", () => {
  const line = (bytes: number) => `{"a":"${"x".repeat(bytes - 8)}"}`;
  assert.equal(read(`${line(16 << 10)}\n{"type":"event"}\n{}`), "error");
  const problem = "has a header longer than 16 KB";
  rejects(line((16 << 10) + 1), problem);
  rejects(`{}\n${line((16 << 10) + 1)}\n{}`, problem);
  rejects(Buffer.alloc(256 << 10, " "), problem);
});
test("items after the hundredth are not read", () => {
  const session = '{"type":"session"}\n{}\n';
  assert.equal(read(`{}\n${session.repeat(99)}{"type":"event"}\n{}\n`), "error");
  assert.equal(read(`{}\n${session.repeat(100)}{"type":"event"}\n{}\nhello\n`), "session");
});
test("a type that is not a string, and lengths that no payload can have", () => {
  assert.equal(read('{}\n{"type":{"toString":1}}\n{}\n{"type":[[]]}\n{}'), "default");
  for (const length of ["-1", "1e999", '"2"'])
    assert.equal(read(`{}\n{"type":"event","length":${length}}\n{}\n`), "error");
});
