import { expect, test } from "vitest";
import { identify } from "./identity";

const id = "a".repeat(32);
const request = { headers: { "x-request-id": id } };

test("a request's first error has the request's id, and every event of it the tag", () => {
  expect(identify({ event_id: "1", type: "transaction", request })).toMatchObject({
    event_id: "1",
    tags: { request_id: id },
  });
  expect(identify({ event_id: "2", request, tags: { kept: 1 } })).toMatchObject({
    event_id: id,
    tags: { kept: 1, request_id: id },
  });
  expect(identify({ event_id: "3", request })).toMatchObject({ event_id: "3", tags: { request_id: id } });
});

test.each([{ event_id: "1" }, { event_id: "1", request: { headers: { "x-request-id": "forged" } } }])(
  "an event outside of any named request stays as it is: %j",
  (event) => expect(identify(event)).toBe(event),
);
