import { describe, expect, test, vi } from "vitest";
import log from "../njs/log.js";

describe("what is counted of", () => {
  const count = (kind: "request" | "envelope", variables: Record<string, string>) => {
    const counts: Record<string, number> = {};
    const incr = (key: string, by: number, init: number) => {
      counts[key] = (counts[key] ?? init) + by;
    };
    vi.stubGlobal("ngx", { shared: { metrics: { incr } } });
    log[kind]({ variables } as never);
    return counts;
  };
  const failed = (names: string[]) => names.map((name) => `culvert_upstream_failures_total{upstream="${name}"}`);
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
    for (const key of series) expect(counts).toMatchObject({ [key]: 1 });
    expect(Object.keys(counts).filter((key) => !key.startsWith(name))).toEqual(series);
    expect(counts[`${name}_sum`]).toBe(seconds);
  });
  test.each<[status: number, asked: string, times: string, by: string, outcome: string, failures: string[]]>([
    [200, "502 : 504, 200", "- : -, 0.1", "spool", "queued unreachable", ["ingest", "spool"]],
    [200, "503 : 502 : 200", "0.1 : - : 0.1", "spool", "queued unreachable", ["spool"]],
    [200, "504, 200", "-, 0.1", "spool", "queued unreachable", ["spool"]],
    [400, "503 : 400", "0.1 : 0.1", "spool", "rejected spool_status_400", []],
    [503, "502 : 502, 502", "- : -, -", "", "failed unreachable", ["ingest", "spool"]],
    [503, "502", "-", "", "failed unreachable", ["ingest"]],
    [9, "200", "0.1", "", "failed unreachable", []],
    [429, "", "", "", "rate_limited proxy", []],
    [429, "429", "0.1", "", "rate_limited ingest", []],
    [413, "413", "0.1", "", "rejected ingest_status_413", []],
    [400, "", "", "", "rejected status_400", []],
    [599, "599", "0.1", "", "failed ingest_status_599", []],
  ])("an envelope: %i after %j, %j, answered by %j: %s", (status, upstream_status, times, by, expected, failures) => {
    const variables = { upstream_status, upstream_header_time: times, answered_by: by };
    const counts = count("envelope", { status: `${status}`, envelope_route: "tunnel", ...variables });
    const [outcome, reason] = expected.split(" ");
    expect(counts).toMatchObject({ [`culvert_tunnel_envelopes_total{outcome="${outcome}",reason="${reason}"}`]: 1 });
    expect(Object.keys(counts).filter((key) => key.includes("failures"))).toEqual(failed(failures));
  });
  test("how long web took to begin a page, in the buckets from there on", () => {
    const counts = count("request", { route: "page", status: "200", upstream_header_time: "0.3" });
    const buckets = ["0.25", "0.5", "+Inf"].map((le) => counts[`${name}_bucket{le="${le}"}`]);
    expect([...buckets, counts[`${name}_sum`], counts[`${name}_count`]]).toEqual([0, 1, 1, 0.3, 1]);
  });
});
