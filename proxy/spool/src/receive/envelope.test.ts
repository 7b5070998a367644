import assert from "node:assert/strict";
import { test } from "vitest";
import { categoryOf } from "./envelope.ts";

const read = (text: string | Buffer) => categoryOf(Buffer.from(text));
const rejects = (text: string | Buffer, message: string) =>
  assert.throws(() => read(text), { status: 400, message: `the envelope ${message}` });

test("items with and without a length, binary payloads included", () => {
  const replay = '{"event_id":"ab"}\n{"type":"replay_event"}\n{"a":"\\n"}\n{"type":"replay_recording","length":6}\n';
  const rest = '\n{"type":"attachment","length":0}\n\n{"type":"event","length":2}\n{}';
  const all = [replay, "\0\n\n\xff{\n", rest].map((part) => Buffer.from(part, "latin1"));
  assert.equal(read(Buffer.concat(all.slice(0, 2))), "replay");
  assert.equal(read(Buffer.concat(all)), "error");
});
test.each([
  ["a header alone", "{}", "default"],
  ["blank lines between items", '{}\n\n{"type":"session"}\n{}\n\n', "session"],
  ["a truncated payload", '{}\n{"type":"event","length":99}\n{', "error"],
  ["a type that is not a string", '{}\n{"type":[[]]}\n{}', "default"],
  ["a length that no payload can have", '{}\n{"type":"event","length":-9}\n{}\n', "error"],
])("%s is accepted", (_, text, category) => assert.equal(read(text), category));
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
