import { describe, expect, test } from "vitest";
import metrics from "../njs/metrics.js";
import tunnel from "../njs/tunnel.js";

describe("limits for a flooding visitor", () => {
  const first = "60:replay;profile;profile_chunk;transaction;span;session:key:culvert_flood";
  test.each([
    [1, first],
    [200, first],
    [201, "60::key:culvert_flood"],
  ])("after %i refusals: %s", (times, expected) => {
    expect(tunnel.limits(times)).toBe(expected);
  });
});

test("of the ingest's headers only those the SDK reads are kept, whatever their case", () => {
  const headersOut: Record<string, string> = {
    "Content-Type": "a",
    "Content-Length": "1",
    "X-Sentry-Rate-Limits": "b",
    "Retry-After": "c",
    "Set-Cookie": "d",
    Server: "e",
    "X-Next-New-Thing": "f",
  };
  tunnel.removeUnknownHeaders({ headersOut } as never);
  expect(Object.keys(headersOut)).toEqual(["Content-Type", "Content-Length", "X-Sentry-Rate-Limits", "Retry-After"]);
});

describe("tries that an upstream did not answer", () => {
  test.each([
    [undefined, 0],
    ["", 0],
    ["200", 0],
    ["502, 200", 1],
    ["504, 502", 2],
    ["502 : 200", 1],
    ["503", 0],
  ])("%s: %i", (statuses, expected) => {
    expect(metrics.unanswered(statuses)).toBe(expected);
  });
});

test("the exposition groups series below their help and ends with a newline", () => {
  const text = metrics.exposition(
    [
      ["culvert_tunnel_bytes_total", 7],
      ['culvert_requests_total{route="page"}', 2],
    ],
    { culvert_connections_active: 1 },
  );
  expect(text).toContain('# TYPE culvert_requests_total counter\nculvert_requests_total{route="page"} 2\n');
  expect(text).toContain("# TYPE culvert_tunnel_bytes_total counter\nculvert_tunnel_bytes_total 7\n");
  expect(text).toMatch(/# TYPE culvert_connections_active gauge\nculvert_connections_active 1\n$/);
});
