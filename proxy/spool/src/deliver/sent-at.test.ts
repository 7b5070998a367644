import assert from "node:assert/strict";
import { test } from "vitest";
import { withSentAt } from "./sent-at.ts";

const now = new Date("2026-11-20T12:00:00.000Z");
const stamp = '"2026-11-20T12:00:00.000Z"';

for (const [why, before, after] of [
  [
    "replaced in place",
    '{"event_id":"a","sent_at":"2026-01-01T00:00:00Z","dsn":"b"}',
    `{"event_id":"a","sent_at":${stamp},"dsn":"b"}`,
  ],
  [
    "white space and order are kept",
    '{ "b" : 1.0 , "sent_at" :\t"x" , "a":1e3}',
    `{ "b" : 1.0 , "sent_at" :\t${stamp} , "a":1e3}`,
  ],
  [
    "a nested sent_at is ignored",
    '{"trace":{"sent_at":"x"},"sent_at":"y"}',
    `{"trace":{"sent_at":"x"},"sent_at":${stamp}}`,
  ],
  [
    "a value that looks like the key is ignored",
    '{"a":"sent_at","b":"\\"sent_at\\":","sent_at":null}',
    `{"a":"sent_at","b":"\\"sent_at\\":","sent_at":${stamp}}`,
  ],
  ["added if it is missing", '{"event_id":"a"}', `{"sent_at":${stamp},"event_id":"a"}`],
  ["added to an empty header", "{ }", `{"sent_at":${stamp} }`],
  ["a number is replaced", '{"sent_at":1}', `{"sent_at":${stamp}}`],
] as const) {
  test(why, () => assert.equal(withSentAt(before, now), after));
}
