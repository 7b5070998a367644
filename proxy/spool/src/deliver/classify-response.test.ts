import assert from "node:assert/strict";
import { test } from "vitest";
import { classifyResponse } from "./classify-response.ts";
import { RateLimits, retryAfterMs } from "./rate-limits.ts";

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

const now = 1_000_000_000_000;
function after(status: number, headers: Record<string, string>) {
  const limits = new RateLimits();
  limits.update(status, headers, now);
  return (category: string) => Math.max(0, limits.until(category) - now) / 1_000;
}

test("named categories are limited, others are not", () => {
  const wait = after(429, {
    "x-sentry-rate-limits": "60:replay;transaction:organization:quota, 2700:error:key",
    "retry-after": "9",
  });
  assert.deepEqual(["replay", "transaction", "error", "feedback"].map(wait), [60, 60, 2_700, 0]);
});
test("no category means all", () =>
  assert.equal(after(429, { "x-sentry-rate-limits": "30::organization" })("session"), 30));
test("limits apply with a 200 too", () =>
  assert.equal(after(200, { "x-sentry-rate-limits": "5:span:project" })("span"), 5));
test("a 429 without limits: Retry-After, else a minute", () => {
  assert.equal(after(429, { "retry-after": "7" })("error"), 7);
  assert.equal(after(429, {})("error"), 60);
  assert.equal(after(429, { "x-sentry-rate-limits": "nonsense" })("error"), 60);
  assert.equal(after(200, { "retry-after": "7" })("error"), 0);
});
test("a shorter limit does not undo a longer one, and none is longer than a day", () => {
  const limits = new RateLimits();
  limits.update(429, { "x-sentry-rate-limits": "60:error:key" }, now);
  limits.update(429, { "x-sentry-rate-limits": "5:error:key" }, now);
  assert.equal(limits.until("error") - now, 60_000);
  assert.equal(after(429, { "retry-after": "99999999" })("error"), 86_400);
});
test("Retry-After as a date", () => {
  assert.equal(retryAfterMs({ "retry-after": new Date(now + 8_000).toUTCString() }, now), 8_000);
  assert.equal(retryAfterMs({ "retry-after": "soon" }, now), undefined);
  assert.equal(retryAfterMs({}, now), undefined);
});
