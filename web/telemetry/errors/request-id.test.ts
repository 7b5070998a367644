import { expect, test } from "vitest";
import { tagWithRequest } from "./event-id.js";
import { eventIdOf, noteDocumentRequest, notePageRequest, pageRequestId, requestIdIn } from "./request-id.js";

const [FIRST, SECOND] = ["1".repeat(32), "2".repeat(32)];

test.each([
  [{ "x-request-id": FIRST }, FIRST],
  [{ "x-request-id": "<script>" }, undefined],
])("the request id in %j is %s", (headers, id) => expect(requestIdIn(headers)).toBe(id));

test.each([
  [FIRST, FIRST],
  ["0AF76519-16cd-43dd-8448-eb211c80319c", "0af7651916cd43dd8448eb211c80319c"],
  ["balancer.7-42", undefined],
])("the event of request %s is %s", (id, expected) => expect(eventIdOf(id)).toBe(expected));

const answer = { headers: new Headers({ "x-request-id": SECOND }) };
test.each([
  ["a navigation", ["/trace", { headers: { rsc: "1" } }], answer, SECOND],
  ["another fetch", ["/api/thing", {}], answer, FIRST],
  ["a prefetch", ["/trace", { headers: { rsc: "1", "next-router-prefetch": "1" } }], answer, FIRST],
  ["a request without a response", ["/trace", { headers: { rsc: "1" } }], undefined, FIRST],
])("after %s the page's request is the right one", (_what, input: unknown[], response, expected) => {
  noteDocumentRequest(FIRST);
  notePageRequest({ input, response });
  expect(pageRequestId()).toBe(expected);
});

const thrown = (handled = false, type = "auto.function.nextjs.on_request_error") => ({
  exception: { values: [{ mechanism: { handled, type } }] },
});
const tagged = (event: object, requestId = FIRST) =>
  tagWithRequest({ event_id: "own", request: { headers: { "x-request-id": requestId } }, tags: { kept: 1 }, ...event });

test("each event of a request has its tag, and only the first exception that ended it has its id", () => {
  const others = [{ type: "transaction" }, thrown(true), thrown(false, "auto.node.onunhandledrejection")];
  const events = [...others, thrown(), thrown()].map((event) => tagged(event));
  expect(events.map(({ event_id }) => event_id)).toEqual(["own", "own", "own", FIRST, "own"]);
  for (const { tags } of events) expect(tags).toEqual({ kept: 1, request_id: FIRST });
});

test("an event without a valid request id is not changed", () => {
  expect(tagged(thrown(), "forged")).toMatchObject({ event_id: "own", tags: { kept: 1 } });
  expect(tagged(thrown(), "forged").tags).not.toHaveProperty("request_id");
});
