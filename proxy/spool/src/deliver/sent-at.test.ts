import assert from "node:assert/strict";
import { test } from "vitest";
import { sentNow } from "./sent-at.ts";

const now = new Date("2026-11-20T12:00:00.000Z");
const stamp = '"2026-11-20T12:00:00.000Z"';

for (const [why, before, after] of [
  [
    "replaced where it stands",
    '{"event_id":"a","sent_at":"2026-01-01T00:00:00Z","dsn":"b"}',
    `{"event_id":"a","sent_at":${stamp},"dsn":"b"}`,
  ],
  [
    "white space and order stay",
    '{ "b" : 1.0 , "sent_at" :\t"x" , "a":1e3}',
    `{ "b" : 1.0 , "sent_at" :\t${stamp} , "a":1e3}`,
  ],
  [
    "one inside another object is not it",
    '{"trace":{"sent_at":"x"},"sent_at":"y"}',
    `{"trace":{"sent_at":"x"},"sent_at":${stamp}}`,
  ],
  [
    "nor is a value that reads like it",
    '{"a":"sent_at","b":"\\"sent_at\\":","sent_at":null}',
    `{"a":"sent_at","b":"\\"sent_at\\":","sent_at":${stamp}}`,
  ],
  ["added where it is missing", '{"event_id":"a"}', `{"sent_at":${stamp},"event_id":"a"}`],
  ["added to an empty header", "{ }", `{"sent_at":${stamp} }`],
  ["a number in its place is replaced", '{"sent_at":1}', `{"sent_at":${stamp}}`],
] as const) {
  test(why, () => assert.equal(sentNow(before, now), after));
}
