import { expect, test } from "vitest";
import { measure, type Plan, parseStubStatus } from "./measure.ts";
import type { Stage } from "./stage.ts";

const status = (requests: number) =>
  `Active connections: 2 \nserver accepts handled requests\n 5 5 ${requests} \nReading: 0\n`;

/** Of its charged containers, two have used 6 s, then 8 s; load and sink 10 s, then 10.5 s; the machine 3 s more of 4; the sink has seen so many more. */
function fakeStage(arrived: number): Stage {
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
  } as unknown as Stage;
}

const plan = (failed: number, requests = 1000): Plan => ({
  charged: ["edge", "web"],
  run: async () => ({ requests, seconds: 2, p50: 1, p99: 2, failed }),
  mustArrive: true,
});

test("what a run costs is charged to the containers that served it", async () => {
  const sample = await measure(fakeStage(1000), plan(0));
  expect(sample).toMatchObject({ perSecond: 500, costPer1000: 2, perCore: 500, lastShare: 0.25, disturbance: 0.125 });
});

test("a run with refusals, or with reports that never arrived, is no measurement", async () => {
  await expect(measure(fakeStage(1000), plan(11))).rejects.toThrow("edge: 11 of 1000 requests failed");
  await expect(measure(fakeStage(980), plan(0))).rejects.toThrow("1000 reports answered, 980 arrived");
  await expect(measure(fakeStage(0), plan(0, 0))).rejects.toThrow("nothing was answered");
  await expect(measure(fakeStage(995), plan(5))).resolves.toBeDefined();
});

test("stub_status: the requests, not the connections", () => {
  expect(parseStubStatus(status(1234))).toBe(1234);
  expect(() => parseStubStatus("404")).toThrow("no stub_status");
});
