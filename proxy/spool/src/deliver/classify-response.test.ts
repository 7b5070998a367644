import assert from "node:assert/strict";
import { test } from "vitest";
import { classify } from "./classify-response.ts";

const kind = (status: number) => classify({ status, headers: {} }).kind;

test("2xx is delivered, 4xx is final, 429 waits, all else is tried again", () => {
  for (const status of [200, 201, 202, 204]) assert.equal(kind(status), "delivered");
  for (const status of [400, 401, 403, 404, 413, 415, 422]) assert.equal(kind(status), "final");
  assert.equal(kind(429), "limited");
  for (const status of [301, 307, 408, 425, 500, 502, 503, 504]) assert.equal(kind(status), "failed");
});
test("a drop is counted under its status", () => {
  assert.deepEqual(classify({ status: 413, headers: {} }), { kind: "final", reason: "http_413" });
});
test("a 503 may log how long", () => {
  const outcome = classify({ status: 503, headers: { "retry-after": "20" } });
  assert.deepEqual(outcome, { kind: "failed", reason: "http_503", answered: true, unknown: false, wait: 20_000 });
});
test("no answer leaves open whether it arrived", () => {
  assert.deepEqual(classify({ error: "timeout", unknown: true }), {
    kind: "failed",
    reason: "timeout",
    answered: false,
    unknown: true,
    wait: 0,
  });
});
