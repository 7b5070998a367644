import { expect, test } from "vitest";
import { measure, type Plan } from "./measure.ts";
import type { Testbed } from "./testbed.ts";

/** The charged container used 2 s; so many requests reached the sink. */
function fakeTestbed(arrived: number, before = "usage_usec 6000000", after = "usage_usec 8000000"): Testbed {
  const used = [before, after];
  const sink = [100, 100 + arrived];
  const exec = async (name: string) =>
    name === "sink" ? `requests\n 5 5 ${sink.shift()} \nReading: 0\n` : used.shift();
  return { exec } as unknown as Testbed;
}

const plan = (failed: number, requests = 1000): Plan => ({
  charged: ["proxy"],
  run: async () => ({ requests, seconds: 2, p50: 1, p95: 2, p99: 2, failed }),
  mustArrive: true,
});

test("the cost of a run is charged to the containers that served it, in both versions of cgroups", async () => {
  const cost = { perSecond: 500, perCpuSecond: 500 };
  expect(await measure(fakeTestbed(1000), plan(0))).toMatchObject(cost);
  expect(await measure(fakeTestbed(1000, "6000000000", "8000000000"), plan(0))).toMatchObject(cost);
});

test("a run with rejections, or with envelopes that never arrived, is not a measurement", async () => {
  await expect(measure(fakeTestbed(1000), plan(11))).rejects.toThrow("proxy: 11 of 1000 requests failed");
  await expect(measure(fakeTestbed(980), plan(0))).rejects.toThrow("1000 envelopes accepted, 980 arrived");
  await expect(measure(fakeTestbed(0), plan(0, 0))).rejects.toThrow("0 of 0 requests");
  await expect(measure(fakeTestbed(995), plan(5))).resolves.toBeDefined();
});
