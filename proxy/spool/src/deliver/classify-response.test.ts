import assert from "node:assert/strict";
import { test } from "vitest";
import { classifyResponse } from "./classify-response.ts";

const kind = (status: number) => classifyResponse({ status, headers: {} }).kind;

test("2xx is delivered, 4xx is rejected, 429 is rate limited, everything else failed", () => {
  for (const status of [200, 201, 202, 204]) assert.equal(kind(status), "delivered");
  for (const status of [400, 401, 403, 404, 413, 415, 422]) assert.equal(kind(status), "rejected");
  assert.equal(kind(429), "rate_limited");
  for (const status of [301, 307, 408, 425, 500, 502, 503, 504]) assert.equal(kind(status), "failed");
});
test("the status is the reason for a drop", () => {
  assert.deepEqual(classifyResponse({ status: 413, headers: {} }), { kind: "rejected", reason: "http_413" });
});
test("a 503 may have a Retry-After", () => {
  const outcome = classifyResponse({ status: 503, headers: { "retry-after": "20" } });
  assert.deepEqual(outcome, {
    kind: "failed",
    reason: "http_503",
    responded: true,
    mayHaveArrived: false,
    retryAfterMs: 20_000,
  });
});
test("without a response the envelope may have arrived", () => {
  assert.deepEqual(classifyResponse({ error: "timeout", mayHaveArrived: true }), {
    kind: "failed",
    reason: "timeout",
    responded: false,
    mayHaveArrived: true,
    retryAfterMs: 0,
  });
});
