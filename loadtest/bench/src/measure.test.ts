import { expect, test } from "vitest";
import { measure, type Plan, parseStubStatus } from "./measure.ts";
import type { Stage } from "./stage.ts";

const status = (requests: number) =>
  `Active connections: 2 \nserver accepts handled requests\n 5 5 ${requests} \nReading: 0\n`;

/** A stage whose subject has used 1 s, then 3 s; load and sink 10 s, then 10.5 s; and whose sink has seen so many more. */
function fakeStage(arrived: number): Stage {
  const clock = { charged: [1, 3], other: [10, 10.5], machine: [20, 23], sink: [100, 100 + arrived] };
  const next = (list: number[]) => list.shift() as number;
  return {
    processorSeconds: async (name: string) => next(name === "load" ? clock.other : clock.charged),
    exec: async (_: string, command: string) =>
      command === "cat" ? `cpu  ${next(clock.machine) * 100} 0 0 0 0 0 0 0 0 0` : status(next(clock.sink)),
  } as unknown as Stage;
}

const plan = (failed: number): Plan => ({
  charged: ["edge"],
  run: async () => ({ requests: 1000, seconds: 2, p50: 1, p99: 2, failed }),
  mustArrive: true,
});

test("what a run costs is charged to the containers that served it", async () => {
  const sample = await measure(fakeStage(1000), plan(0));
  expect(sample).toMatchObject({ perSecond: 500, costPer1000: 2, perCore: 500 });
});

test("a run with refusals, or with reports that never arrived, is no measurement", async () => {
  await expect(measure(fakeStage(1000), plan(11))).rejects.toThrow("edge: 11 of 1000 requests failed");
  await expect(measure(fakeStage(980), plan(0))).rejects.toThrow("1000 reports answered, 980 arrived");
  await expect(measure(fakeStage(995), plan(5))).resolves.toBeDefined();
});

test("stub_status: the requests, not the connections", () => {
  expect(parseStubStatus(status(1234))).toBe(1234);
  expect(() => parseStubStatus("404")).toThrow("no stub_status");
});
