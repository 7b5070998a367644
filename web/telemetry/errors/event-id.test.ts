import { expect, test } from "vitest";
import { tagWithRequest } from "./event-id.js";

const id = "a".repeat(32);
const request = { headers: { "x-request-id": id } };
const thrown = (handled: boolean, type = "auto.function.nextjs.on_request_error") => ({
  exception: { values: [{ mechanism: { handled, type } }] },
});

test("the first exception that ended a request has the request's id as event id, and each of its events has the tag", () => {
  const idOf = (event: object) => {
    const tagged = tagWithRequest({ event_id: "own", request, tags: { kept: 1 }, ...event });
    expect(tagged.tags).toEqual({ kept: 1, request_id: id });
    return tagged.event_id;
  };
  const others = [
    { type: "transaction" },
    { message: "captured" },
    thrown(true),
    thrown(false, "auto.node.onunhandledrejection"),
  ];
  for (const other of others) expect(idOf(other)).toBe("own");
  expect([idOf(thrown(false)), idOf(thrown(false))]).toEqual([id, "own"]);
});

test.each([{}, { request: { headers: { "x-request-id": "forged" } } }])(
  "an event without a valid request id is not changed: %j",
  (more) => {
    const event = { event_id: "own", ...thrown(false), ...more };
    expect(tagWithRequest(event)).toBe(event);
  },
);
