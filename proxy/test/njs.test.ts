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
  const name = "culvert_page_duration_seconds";
  test.each<[string, status: string, asked: string, times: string, failures: string[], seconds: number | undefined]>([
    ["a page", "200", "200", "0.3", [], 0.3],
    ["one that another replica answered", "200", "502, 200", "-, 2.5", ["web"], 2.5],
    ["one that a replica began to answer", "200", "502, 200", "0.001, 2.5", [], 2.5],
    ["one that was retried with a new list of replicas", "200", "502, 502 : 200", "-, - : 2.5", ["web"], 2.5],
    ["one that web did not answer", "503", "504", "-", ["web"], undefined],
    ["one that web never answered", "503", "404, 502", "0.001, -", ["web"], undefined],
    ["one that the app itself could not answer", "504", "504", "4.5", [], 4.5],
    ["one that is not HTTP", "009", "200", "0.3", [], 0.3],
  ])("%s", (_, status, upstream_status, upstream_header_time, failures, seconds) => {
    const counts = count("request", { route: "page", status, upstream_status, upstream_header_time });
    const series = [`culvert_requests_total{route="page",class="${Math.floor(+status / 100)}xx"}`, ...failed(failures)];
    for (const one of series) expect(counts).toMatchObject({ [one]: 1 });
    expect(Object.keys(counts).filter((one) => !one.startsWith(name))).toEqual(series);
    expect(counts[`${name}_sum`]).toBe(seconds);
  });
  test.each([
    ["503 : 200", "0.1 : 0.1", "spool", []],
    ["502 : 504, 200", "- : -, 0.1", "spool", ["ingest", "spool"]],
    ["503 : 502 : 200", "0.1 : - : 0.1", "spool", ["spool"]],
    ["504, 200", "-, 0.1", "spool", ["spool"]],
    ["502 : 502, 502", "- : -, -", "", ["ingest", "spool"]],
    ["502", "-", "", ["ingest"]],
    ["502 : 200", "0.1 : 0.1", "spool", []],
  ])("an envelope with attempts that ended with %j after %j, answered by %j", (asked, times, by, failures) => {
    const variables = { upstream_status: asked, upstream_header_time: times, answered_by: by };
    const counts = count("envelope", { status: "200", ...variables });
    expect(Object.keys(counts).filter((one) => one.includes("failures"))).toEqual(failed(failures));
  });
  test("how long web took to begin a page, in the buckets from there on", () => {
    const counts = count("request", { route: "page", status: "200", upstream_header_time: "0.3" });
    const buckets = ["0.25", "0.5", "+Inf"].map((le) => counts[`${name}_bucket{le="${le}"}`]);
    expect([...buckets, counts[`${name}_sum`], counts[`${name}_count`]]).toEqual([0, 1, 1, 0.3, 1]);
  });
});
