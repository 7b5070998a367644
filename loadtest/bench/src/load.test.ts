import { expect, test } from "vitest";
import { parseH2loadLog, parseOpenLoop, parseProbe, parseReceiver, parseWrk } from "./load.ts";

const wrkOutput = `Running 3s test @ https://proxy:8443/monitoring
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.29ms    1.10ms  30.21ms   91.00%

{"requests":30000,"microseconds":3000000,"p50":1850,"p99":22420,"rejected":3,"broken":2}
`;

test("wrk's results: milliseconds, seconds, and every kind of failure", () => {
  expect(parseWrk(wrkOutput)).toEqual({ requests: 30000, seconds: 3, p50: 1.85, p99: 22.42, failed: 5 });
});

test("the output of a wrk that failed is not a measurement", () => {
  expect(() => parseWrk("unable to connect to proxy:8443 Connection refused")).toThrow("printed no results");
  expect(() => parseWrk('{"requests":1}')).toThrow("have no microseconds");
});

test("h2load's log: times of each response, rejected and broken ones counted", () => {
  const log = ["1795156720705664\t200\t1000", "1795156720705665\t307\t3000", "1\t429\t2000", "2\t-1\t9000", ""].join(
    "\n",
  );
  expect(parseH2loadLog(log, 2)).toEqual({ requests: 4, seconds: 2, p50: 2, p99: 9, failed: 2 });
});

test("an empty or truncated h2load log is not a measurement", () => {
  expect(() => parseH2loadLog("", 2)).toThrow("not readable");
  expect(() => parseH2loadLog("1795156720705664\t200", 2)).toThrow("not readable");
});
test("the spool's receiver: rejections are failures, and a run that failed is not a measurement", () => {
  const line = '{"envelopes_per_second":4000,"accepted":7990,"rejected":10,"p50_ms":7,"p99_ms":30,"seconds":2}';
  expect(parseReceiver(`${line}\n`)).toEqual({ requests: 8000, seconds: 2, p50: 7, p99: 30, failed: 10 });
  expect(() => parseReceiver("Error: connect ECONNREFUSED")).toThrow("printed no results");
});

test("the open loop's results: times of pages only, shed requests have not failed, late pages are not good", () => {
  const visits = [
    [200, 100],
    [200, 300],
    [200, 1001],
    [503, 2],
    [503, 1],
    [500, 5],
    [-1, 7],
    [200, 200],
  ];
  expect(parseOpenLoop(`warning\n${JSON.stringify(visits)}\n`, 2)).toEqual({
    ...{
      requests: 8,
      seconds: 2,
      p50: 200,
      p95: 1001,
      p99: 1001,
      failed: 2,
      goodPerSecond: 1.5,
      shedShare: 0.25,
      failedShare: 0.25,
    },
  });
});

test("an open loop without an answer is not a measurement", () => {
  expect(() => parseOpenLoop("cannot find module", 2)).toThrow("printed no results");
  expect(() => parseOpenLoop("[[503,1],[-1,2]]", 2)).toThrow("no request of the open loop was answered with a page");
});

test("a probe of a service under attack: times of the expected answers, and how many are missing, all of them too", () => {
  expect(parseProbe("[[404,10],[404,30],[200,1],[-1,20000]]", 404)).toEqual({
    requests: 4,
    failed: 2,
    p50: 10,
    p99: 30,
  });
  expect(parseProbe("[[503,1]]", 200)).toEqual({ requests: 1, failed: 1, p50: Number.NaN, p99: Number.NaN });
  expect(() => parseProbe("cannot find module", 200)).toThrow("printed no results");
});
