import { describe, expect, test, vi } from "vitest";
import log from "../njs/log.js";

describe("the outcome of an envelope", () => {
  test.each([
    [200, "200", "", "accepted", ""],
    [200, "502 : 200", "spool", "queued", "unreachable"],
    [400, "503 : 400", "spool", "rejected", "spool_status_400"],
    [503, "502", "", "failed", "unreachable"],
    [9, "200", "", "failed", "unreachable"],
    [503, "", "capacity", "rejected", "capacity"],
    [403, "", "origin", "rejected", "origin"],
    [429, "", "", "rate_limited", "proxy"],
    [429, "429", "", "rate_limited", "ingest"],
    [413, "413", "", "rejected", "ingest_status_413"],
    [400, "", "", "rejected", "status_400"],
    [599, "599", "", "failed", "ingest_status_599"],
  ])("%i, upstreams %j, answered by %j: %s %s", (status, asked, by, ...expected) => {
    expect(log.outcome(status, asked, by)).toEqual(expected);
  });
});

describe("what is counted of", () => {
  /** The counters after one line of the log with these variables. */
  const count = (kind: "request" | "envelope", variables: Record<string, string>) => {
    const counts: Record<string, number> = {};
    const incr = (key: string, by: number, init: number) => {
      counts[key] = (counts[key] ?? init) + by;
    };
    vi.stubGlobal("ngx", { shared: { metrics: { incr } } });
    log[kind]({ variables } as never);
    return counts;
  };
  const failed = (upstreams: string[]) => upstreams.map((one) => `culvert_upstream_failures_total{upstream="${one}"}`);
  test.each<[string, Record<string, string>, string, string[]]>([
    ["a page", { status: "200", upstream_status: "200" }, "2xx", []],
    ["one that another replica answered", { status: "200", upstream_status: "502, 200" }, "2xx", ["web"]],
    ["one that web did not answer", { status: "503", upstream_status: "504" }, "5xx", ["web"]],
    ["one that is not HTTP", { status: "009", upstream_status: "200" }, "0xx", []],
  ])("%s", (_, variables, group, failures) => {
    const series = [`culvert_requests_total{route="page",class="${group}"}`, ...failed(failures)];
    expect(count("request", { route: "page", ...variables })).toEqual(
      Object.fromEntries(series.map((one) => [one, 1])),
    );
  });
  test.each([
    ["503 : 200", "spool", []],
    ["502 : 504, 200", "spool", ["ingest", "spool"]],
    ["503 : 502 : 200", "spool", ["spool"]],
    ["504, 200", "spool", ["spool"]],
    ["502 : 502, 502", "", ["ingest", "spool"]],
    ["502", "", ["ingest"]],
  ])("an envelope with attempts that ended with %j, answered by %j", (upstream_status, answered_by, failures) => {
    const counts = count("envelope", { status: "200", upstream_status, answered_by });
    expect(Object.keys(counts).filter((one) => one.includes("failures"))).toEqual(failed(failures));
  });
  test("how long web took to begin a page, in the buckets from there on", () => {
    const counts = count("request", { route: "page", status: "200", upstream_header_time: "0.3" });
    const name = "culvert_page_duration_seconds";
    const buckets = ["0.25", "0.5", "+Inf"].map((le) => counts[`${name}_bucket{le="${le}"}`]);
    expect([...buckets, counts[`${name}_sum`], counts[`${name}_count`]]).toEqual([0, 1, 1, 0.3, 1]);
  });
});
