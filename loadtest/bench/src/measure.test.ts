import { expect, test } from "vitest";
import { measure, type Plan, parseStubStatus } from "./measure.ts";
import type { Testbed } from "./testbed.ts";

const status = (requests: number) =>
  `Active connections: 2 \nserver accepts handled requests\n 5 5 ${requests} \nReading: 0\n`;

/** The two charged containers used 6 s, then 8 s; load and sink 10 s, then 10.5 s; the machine 3 s of 4; `arrived` requests reached the sink. */
function fakeTestbed(arrived: number): Testbed {
  const clock = {
    charged: [
      [1, 5],
      [2.5, 5.5],
    ],
    helpers: [
      [9, 1],
      [9.25, 1.25],
    ],
    machine: [
      { worked: 20, all: 21 },
      { worked: 23, all: 25 },
    ],
    sink: [100, 100 + arrived],
  };
  const next = <Item>(list: Item[]) => list.shift() as Item;
  return {
    processorTime: async (name: string) => {
      const machine = name === "load" ? next(clock.machine) : { worked: 0, all: 0 };
      return next(name === "load" ? clock.helpers : clock.charged).map((own) => ({ own, machine }));
    },
    exec: async () => status(next(clock.sink)),
  } as unknown as Testbed;
}

const plan = (failed: number, requests = 1000): Plan => ({
  charged: ["proxy", "web"],
  run: async () => ({ requests, seconds: 2, p50: 1, p99: 2, failed }),
  mustArrive: true,
});

test("the cost of a run is charged to the containers that served it", async () => {
  const sample = await measure(fakeTestbed(1000), plan(0));
  expect(sample).toMatchObject({
    perSecond: 500,
    cpuSecondsPer1000: 2,
    perCpuSecond: 500,
    lastContainerShare: 0.25,
    otherWorkShare: 0.125,
  });
});

test("a run with rejections, or with envelopes that never arrived, is not a measurement", async () => {
  await expect(measure(fakeTestbed(1000), plan(11))).rejects.toThrow("proxy: 11 of 1000 requests failed");
  await expect(measure(fakeTestbed(980), plan(0))).rejects.toThrow("1000 envelopes accepted, 980 arrived");
  await expect(measure(fakeTestbed(0), plan(0, 0))).rejects.toThrow("no response");
  await expect(measure(fakeTestbed(995), plan(5))).resolves.toBeDefined();
});

test("stub_status: the requests, not the connections", () => {
  expect(parseStubStatus(status(1234))).toBe(1234);
  expect(() => parseStubStatus("404")).toThrow("no stub_status");
});
