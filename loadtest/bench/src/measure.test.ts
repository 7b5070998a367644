import { expect, test } from "vitest";
import { measure, type Plan } from "./measure.ts";
import type { Testbed } from "./testbed.ts";

/** The charged containers used 2 s, load and sink 0.5 s, the machine 3 s of 4; `arrived` requests reached the sink. */
function fakeTestbed(arrived: number): Testbed {
  const own = { charged: [6, 8], load: [10, 10.5] };
  const machine = [
    { worked: 20, all: 21 },
    { worked: 23, all: 25 },
  ];
  const sink = [100, 100 + arrived];
  return {
    processorTime: async (name: string) =>
      name === "load"
        ? [{ own: own.load.shift(), ...machine.shift() }]
        : [{ own: own.charged.shift(), worked: 0, all: 0 }],
    exec: async () => `Active connections: 2 \nserver accepts handled requests\n 5 5 ${sink.shift()} \nReading: 0\n`,
  } as unknown as Testbed;
}

const plan = (failed: number, requests = 1000): Plan => ({
  charged: ["proxy"],
  run: async () => ({ requests, seconds: 2, p50: 1, p99: 2, failed }),
  mustArrive: true,
});

test("the cost of a run is charged to the containers that served it", async () => {
  const sample = await measure(fakeTestbed(1000), plan(0));
  expect(sample).toMatchObject({ perSecond: 500, perCpuSecond: 500, otherWorkShare: 0.125 });
});

test("a run with rejections, or with envelopes that never arrived, is not a measurement", async () => {
  await expect(measure(fakeTestbed(1000), plan(11))).rejects.toThrow("proxy: 11 of 1000 requests failed");
  await expect(measure(fakeTestbed(980), plan(0))).rejects.toThrow("1000 envelopes accepted, 980 arrived");
  await expect(measure(fakeTestbed(0), plan(0, 0))).rejects.toThrow("no response");
  await expect(measure(fakeTestbed(995), plan(5))).resolves.toBeDefined();
});
