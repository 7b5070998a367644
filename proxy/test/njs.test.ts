import { beforeEach, describe, expect, test, vi } from "vitest";
import ingestResponse from "../njs/ingest-response.js";
import metrics from "../njs/metrics.js";
import rateLimit from "../njs/rate-limit.js";
import response from "../njs/response.js";
import workers from "../njs/workers.js";

describe("limits for a client above the rate limit", () => {
  const first = "60:replay;profile;profile_chunk;transaction;span;session:key:culvert_rate_limit";
  test.each([
    [1, first],
    [200, first],
    [201, "60::key:culvert_rate_limit"],
  ])("after %i rejections: %s", (times, expected) => {
    expect(rateLimit.limits(times)).toBe(expected);
  });
});

test("a client's rejections are forgotten a minute after the first of them", () => {
  // As Nginx does it: an expired count is not there, and `incr` goes on from it all the same.
  const counts = new Map<string, { count: number; until: number }>();
  let now = 0;
  const rejections = {
    has: (who: string) => (counts.get(who)?.until ?? 0) > now,
    set: (who: string, count: number, timeout: number) => counts.set(who, { count, until: now + timeout }),
    incr: (who: string, by: number) => {
      const entry = counts.get(who) ?? { count: 0, until: now + 60_000 };
      counts.set(who, entry);
      entry.count += by;
      return entry.count;
    },
  };
  vi.stubGlobal("ngx", { shared: { rate_limited: rejections } });
  const headersOut: Record<string, string> = {};
  const reject = (times: number) => {
    for (let n = 0; n < times; n++) rateLimit.reject({ rawVariables: {}, headersOut, return: () => {} } as never);
    return headersOut["X-Sentry-Rate-Limits"];
  };
  expect(reject(150)).toBe(rateLimit.limits(150));
  now = 60_000;
  expect(reject(51)).toBe(rateLimit.limits(51));
  expect(reject(150)).toBe(rateLimit.limits(201));
});

test("of the ingest's headers only those that the SDK reads pass, in any case", () => {
  const headersOut: Record<string, string> = {
    "Content-Type": "a",
    "Content-Length": "1",
    "X-Sentry-Rate-Limits": "b",
    "Retry-After": "c",
    "Set-Cookie": "d",
    Server: "e",
    "X-Next-New-Thing": "f",
    constructor: "g" as never,
    "retry-AFTER": "h",
  };
  vi.stubGlobal("ngx", { shared: { metrics: { incr: () => 1 } } });
  const variables = { forwarded_metric: "tunnel|200|200" };
  response({ headersOut, rawHeadersOut: [[]], variables } as never, true);
  expect(Object.keys(headersOut)).toEqual([
    "Content-Type",
    "Content-Length",
    "X-Sentry-Rate-Limits",
    "Retry-After",
    "retry-AFTER",
  ]);
});

describe("the metrics report an ingest as down", () => {
  const dictionary = () => {
    const values = new Map<string, number>();
    const incr = (key: string, by: number) => values.set(key, (values.get(key) ?? 0) + by).get(key);
    return {
      incr,
      add: (key: string, value: number) => !values.has(key) && !!values.set(key, value),
      get: (key: string) => values.get(key),
      delete: (key: string) => values.delete(key),
      size: () => values.size,
      clear: () => values.clear(),
    };
  };
  // The module keeps the dictionaries that it has found.
  const shared = { ingest_failures: dictionary(), metrics: dictionary() };
  beforeEach(() => {
    vi.stubGlobal("ngx", { shared });
    shared.ingest_failures.clear();
    shared.metrics.clear();
  });
  const envelope = (upstream_status: string, spool_tried = "", ingest = "1") =>
    ({
      variables: { ingest, request_length: "1700", upstream_status, spool_tried, forwarded_metric: upstream_status },
      headersOut: {},
      rawHeadersOut: [],
    }) as never;
  const fail = (times: number, ...how: [string, string?]) => {
    for (let n = 0; n < times; n++) (how[1] ? ingestResponse.fromSpool : ingestResponse.fromNeither)(envelope(...how));
  };

  test.each<[string, string, string]>([
    ["with a spool", "502 : 200", "1"],
    ["with a full one", "502, 504 : 503", "1"],
    ["without", "502", ""],
  ])("after five failures in a row, %s", (_, ...how) => {
    fail(4, ...how);
    expect(ingestResponse.isDown("1")).toBe(false);
    fail(1, ...how);
    expect(ingestResponse.isDown("1")).toBe(true);
    response(envelope("200"));
    expect(ingestResponse.isDown("1")).toBe(false);
  });
  test("by itself, and no longer than until it answers", () => {
    fail(5, "502");
    for (let n = 0; n < 5; n++) ingestResponse.fromNeither(envelope("502", "", "2"));
    response(envelope("200"));
    expect([ingestResponse.isDown("1"), ingestResponse.isDown("2")]).toEqual([false, true]);
    response(envelope("200", "", "2"));
    expect(ingestResponse.isDown("2")).toBe(false);
    // Nothing is left to forget.
    expect(shared.ingest_failures.size()).toBe(0);
    expect((shared.metrics.get("bytes") ?? 0) % 1700).toBe(0);
  });
  test("not if it was not asked", () => {
    fail(9, "200", "1");
    fail(9, "");
    expect(ingestResponse.isDown("1")).toBe(false);
  });
});

describe("a request with an attempt that an upstream did not answer", () => {
  test.each([
    [undefined, false],
    ["", false],
    ["200", false],
    ["502, 200", true],
    ["504, 502", true],
    ["502 : 200", true],
    ["503", false],
  ])("%s: %s", (statuses, expected) => {
    expect(metrics.unanswered(statuses)).toBe(expected);
  });
});

test("keys add up to series", () => {
  const counts: [string, number][] = [
    ["page|200|200", 3],
    ["page|200|502, 200", 2],
    ["page|500|500|page||", 7],
    ["page|503|502 : 500|page|overload|shed", 8],
    ["page|503|502 : 500|prefetch|overload|shed", 9],
    ["page|503||page|overload|total", 10],
    ["page|413||page|size|", 1],
    ["page|429||page|rate_limit|", 11],
    ["page|503|502|page|unreachable|", 12],
    ["page|504|504|page|timeout|", 1],
    ["page|502|502|page|response_headers|", 1],
    ['tunnel|200|200|"accepted","reason":""', 5],
    ['tunnel|503|504|"failed","reason":"unreachable"', 4],
    ['tunnel|200|502 : 200|"queued","reason":"unreachable"', 1],
    ['server|200|502 : 200|"queued","reason":"unreachable"', 6],
    ["tunnel", 20],
    ["server", 30],
    ["bytes", 1700.5],
  ];
  expect(metrics.series(counts as never)).toEqual({
    'culvert_requests_total{route="page",class="2xx"}': 5,
    'culvert_requests_total{route="page",class="4xx"}': 12,
    'culvert_requests_total{route="page",class="5xx"}': 48,
    'culvert_pages_total{kind="page",outcome="accepted"}': 7,
    'culvert_pages_total{kind="page",outcome="shed"}': 8,
    'culvert_pages_total{kind="prefetch",outcome="shed"}': 9,
    'culvert_pages_total{kind="page",outcome="rejected"}': 11,
    'culvert_pages_total{kind="page",outcome="rate_limited"}': 11,
    'culvert_pages_total{kind="page",outcome="failed"}': 14,
    'culvert_requests_total{route="tunnel",class="2xx"}': 26,
    'culvert_requests_total{route="tunnel",class="5xx"}': 4,
    'culvert_tunnel_envelopes_total{outcome="accepted",reason=""}': 25,
    'culvert_tunnel_envelopes_total{outcome="failed",reason="unreachable"}': 4,
    'culvert_tunnel_envelopes_total{outcome="queued",reason="unreachable"}': 1,
    'culvert_requests_total{route="server",class="2xx"}': 36,
    'culvert_server_envelopes_total{outcome="accepted",reason=""}': 30,
    'culvert_server_envelopes_total{outcome="queued",reason="unreachable"}': 6,
    'culvert_upstream_failures_total{upstream="web"}': 16,
    'culvert_upstream_failures_total{upstream="ingest"}': 11,
    culvert_tunnel_bytes_total: 1700,
  });
});

test("the exposition groups series below their help and ends with a newline", () => {
  const text = metrics.exposition(
    { culvert_tunnel_bytes_total: 7, 'culvert_requests_total{route="page"}': 2 },
    { culvert_connections_active: 1 },
  );
  expect(text).toContain('# TYPE culvert_requests_total counter\nculvert_requests_total{route="page"} 2\n');
  expect(text).toContain("# TYPE culvert_tunnel_bytes_total counter\nculvert_tunnel_bytes_total 7\n");
  expect(text).toMatch(/# TYPE culvert_connections_active gauge\nculvert_connections_active 1\n$/);
});

test("connections are the established ones of the public listeners", () => {
  const sockets = [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    "   0: 00000000:20FB 00000000:0000 0A 00000000:00000000 00:00000000 00000000   101        0 1 1 0 100 0 0 10 0",
    "   1: 030013AC:20FB 010013AC:C350 01 00000000:00000000 00:00000000 00000000   101        0 2 1 0 20 4 30 10 -1",
    "  12: 030013AC:1F90 010013AC:20FB 01 00000000:00000000 00:00000000 00000000   101        0 3 1 0 20 4 30 10 -1",
    "  13: 030013AC:20FB 010013AC:C351 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0",
    "  14: 030013AC:D431 020013AC:20FB 01 00000000:00000000 00:00000000 00000000   101        0 4 1 0 20 4 30 10 -1",
  ];
  expect(workers.countConnections(`${sockets.join("\n")}\n`)).toBe(2);
});

describe("a worker that starts", () => {
  const start = (generation: string, before: [string, number][]) => {
    const values = new Map(before);
    const shared = {
      get: (key: string) => values.get(key),
      set: (key: string, value: number) => values.set(key, value),
      incr: (key: string, by: number, init: number) => values.set(key, (values.get(key) ?? init) + by),
    };
    vi.stubGlobal("ngx", { worker_id: 0, shared: { workers: shared } });
    workers.noteStart({ variables: { generation } });
    return values;
  };
  // No process has this number: above the largest that Linux gives.
  const gone = 2 ** 22 + 1;
  test.each<[string, [string, number][], number | undefined]>([
    ["is the first", [], undefined],
    [
      "replaces one that is gone",
      [
        ["pid_0", gone],
        ["generation_0", 1],
      ],
      1,
    ],
    [
      "is the second to do so",
      [
        ["pid_0", gone],
        ["generation_0", 1],
        ["deaths", 1],
      ],
      2,
    ],
    [
      "belongs to a reload, which ended the one before",
      [
        ["pid_0", gone],
        ["generation_0", 0],
      ],
      undefined,
    ],
    [
      "is known already",
      [
        ["pid_0", process.pid],
        ["generation_0", 1],
      ],
      undefined,
    ],
  ])("%s", (_, before, deaths) => {
    const values = start("1", before);
    expect(values.get("deaths")).toBe(deaths);
    expect([values.get("pid_0"), values.get("generation_0")]).toEqual([process.pid, 1]);
  });
});

test("a host is down if one of its projects is, and is listed once", () => {
  const down = metrics.ingestsDown("1 o1.example\n2 o2.example:9000\n3 o1.example\n", (ingest) => ingest === "1");
  expect(down).toEqual({
    'culvert_ingest_down{ingest="o1.example"}': 1,
    'culvert_ingest_down{ingest="o2.example:9000"}': 0,
  });
  expect(metrics.exposition({}, down).match(/# TYPE culvert_ingest_down gauge/g)).toHaveLength(1);
});
