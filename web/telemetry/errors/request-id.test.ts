import { afterEach, expect, test, vi } from "vitest";

const FIRST = "1".repeat(32);
const SECOND = "2".repeat(32);

afterEach(() => vi.resetModules());
async function load() {
  const module = await import("./request-id.js");
  module.noteDocumentRequest(FIRST);
  return module;
}
const answer = { headers: new Headers({ "x-request-id": SECOND }) };

test("without a proxy, or with an invalid id, there is none", async () => {
  const { requestIdOf } = await load();
  expect(requestIdOf(new Headers())).toBeUndefined();
  expect(requestIdOf(new Headers({ "x-request-id": "<script>" }))).toBeUndefined();
});

test("Node's headers without an id have none", async () => {
  const { requestIdIn } = await load();
  expect(requestIdIn({})).toBeUndefined();
  expect(requestIdIn({ "x-request-id": FIRST })).toBe(FIRST);
});

test.each([
  [FIRST, FIRST],
  ["0AF76519-16cd-43dd-8448-eb211c80319c", "0af7651916cd43dd8448eb211c80319c"],
  ["balancer.7-42", undefined],
  [undefined, undefined],
])("the event of request %s is %s", async (id, expected) => {
  const { eventIdOf } = await load();
  expect(eventIdOf(id)).toBe(expected);
});

test.each([
  ["another fetch", ["/api/thing", {}], answer],
  ["a prefetch", ["/trace", { headers: { rsc: "1", "next-router-prefetch": "1" } }], answer],
  ["a request without a response", ["/trace", { headers: { rsc: "1" } }], undefined],
])("%s changes nothing", async (_what, input, response) => {
  const { notePageRequest, pageRequestId } = await load();
  notePageRequest({ input: input as unknown[], response });
  expect(pageRequestId()).toBe(FIRST);
});
