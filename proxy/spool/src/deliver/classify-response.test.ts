import assert from "node:assert/strict";
import { test } from "vitest";
import { classifyResponse } from "./classify-response.ts";

test.each([
  ["delivered", [200, 201, 202, 204]],
  ["rejected", [400, 401, 403, 404, 413, 415, 422]],
  ["rate_limited", [429]],
  ["failed", [301, 307, 408, 425, 500, 502, 503, 504]],
])("%s: %s", (kind, statuses) => {
  for (const status of statuses) assert.equal(classifyResponse({ status, headers: {} }).kind, kind);
});
test("a 503 may have a Retry-After", () => {
  const outcome = classifyResponse({ status: 503, headers: { "retry-after": "20" } });
  assert.deepEqual(outcome, { kind: "failed", reason: "http_503", mayHaveArrived: false, retryAfterMs: 20_000 });
});
