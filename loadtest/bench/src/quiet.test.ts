import { expect, test } from "vitest";
import { waitForQuiet } from "./quiet.ts";
import type { Stage } from "./stage.ts";

/** A stage on a machine that works this share of the time between any two looks. */
function stageOn(...shares: number[]): Stage & { looks: number } {
  const machine = { worked: 0, all: 0 };
  const stage = {
    looks: 0,
    processorTime: async () => {
      const share = shares[Math.floor(stage.looks++ / 2)] ?? 1;
      machine.worked += share;
      machine.all += 1;
      return [{ own: 0, machine: { ...machine } }];
    },
  };
  return stage as unknown as Stage & { looks: number };
}

test("waits until the machine is quiet", async () => {
  const stage = stageOn(0.9, 0.8, 0.1);
  await waitForQuiet(stage, 60);
  expect(stage.looks).toBe(6);
});

test("waits no longer than it may", async () => {
  const stage = stageOn();
  await waitForQuiet(stage, 0.6);
  expect(stage.looks).toBeLessThanOrEqual(6);
});
