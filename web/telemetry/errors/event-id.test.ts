import { expect, test } from "vitest";
import { tagWithRequest } from "./event-id.js";

const id = "a".repeat(32);
const request = { headers: { "x-request-id": id } };

const thrown = (handled: boolean, type = "auto.function.nextjs.on_request_error") => ({
  exception: { values: [{ mechanism: { handled, type } }] },
});

test("the first exception that ended a request has the request's id as event id, and each of its events has the tag", () => {
  const others = [
    { type: "transaction" },
    { message: "captured" },
    thrown(true),
    thrown(false, "auto.node.onunhandledrejection"),
  ];
  for (const other of others)
    expect(tagWithRequest({ event_id: "1", request, ...other })).toMatchObject({
      event_id: "1",
      tags: { request_id: id },
    });
  expect(tagWithRequest({ event_id: "2", request, tags: { kept: 1 }, ...thrown(false) })).toMatchObject({
    event_id: id,
    tags: { kept: 1, request_id: id },
  });
  expect(tagWithRequest({ event_id: "3", request, ...thrown(false) })).toMatchObject({
    event_id: "3",
    tags: { request_id: id },
  });
});

test.each([
  { event_id: "1", ...thrown(false) },
  { event_id: "1", ...thrown(false), request: { headers: { "x-request-id": "forged" } } },
])("an event without a valid request id is not changed: %j", (event) => expect(tagWithRequest(event)).toBe(event));
