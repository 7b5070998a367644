import { expect, test } from "vitest";
import { tagWithRequest } from "./event-id.js";

const id = "a".repeat(32);
const thrown = (handled = false, type = "auto.function.nextjs.on_request_error") => ({
  exception: { values: [{ mechanism: { handled, type } }] },
});
const tagged = (event: object, requestId = id) =>
  tagWithRequest({ event_id: "own", request: { headers: { "x-request-id": requestId } }, tags: { kept: 1 }, ...event });

test("each event of a request has its tag, and only the first exception that ended it has its id", () => {
  const others = [{ type: "transaction" }, thrown(true), thrown(false, "auto.node.onunhandledrejection")];
  const events = [...others, thrown(), thrown()].map((event) => tagged(event));
  expect(events.map(({ event_id }) => event_id)).toEqual(["own", "own", "own", id, "own"]);
  for (const { tags } of events) expect(tags).toEqual({ kept: 1, request_id: id });
});

test("an event without a valid request id is not changed", () => {
  expect(tagged(thrown(), "forged")).toMatchObject({ event_id: "own", tags: { kept: 1 } });
  expect(tagged(thrown(), "forged").tags).not.toHaveProperty("request_id");
});
