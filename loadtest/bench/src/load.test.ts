import { expect, test } from "vitest";
import { parseH2loadLog, parseWrk } from "./load.ts";

const wrkOutput = `Running 3s test @ https://edge:8443/monitoring
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.29ms    1.10ms  30.21ms   91.00%

{"requests":30000,"microseconds":3000000,"p50":1850,"p99":22420,"refused":3,"broken":2}
`;

test("wrk's report: milliseconds, seconds, and every kind of failure", () => {
  expect(parseWrk(wrkOutput)).toEqual({ requests: 30000, seconds: 3, p50: 1.85, p99: 22.42, failed: 5 });
});

test("a wrk that died, or says something else, is no measurement", () => {
  expect(() => parseWrk("unable to connect to edge:8443 Connection refused")).toThrow("did not report");
  expect(() => parseWrk('{"requests":1}')).toThrow("has no microseconds");
});

test("h2load's log: times from the answers themselves, refused and broken ones counted", () => {
  const log = ["1795156720705664\t200\t1000", "1795156720705665\t307\t3000", "1\t429\t2000", "2\t-1\t9000", ""].join(
    "\n",
  );
  expect(parseH2loadLog(log, 2)).toEqual({ requests: 4, seconds: 2, p50: 2, p99: 9, failed: 2 });
});

test("an empty or torn h2load log is no measurement", () => {
  expect(() => parseH2loadLog("", 2)).toThrow("not readable");
  expect(() => parseH2loadLog("1795156720705664\t200", 2)).toThrow("not readable");
});
