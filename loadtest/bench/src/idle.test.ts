import { expect, test } from "vitest";
import { waitForIdle } from "./idle.ts";
import type { Testbed } from "./testbed.ts";

/** A testbed on a machine that is busy for this share of the time between two polls. */
function testbedOn(...shares: number[]): Testbed & { polls: number } {
  const machine = { worked: 0, all: 0 };
  const testbed = {
    polls: 0,
    processorTime: async () => {
      const share = shares[Math.floor(testbed.polls++ / 2)] ?? 1;
      machine.worked += share;
      machine.all += 1;
      return [{ own: 0, machine: { ...machine } }];
    },
  };
  return testbed as unknown as Testbed & { polls: number };
}

test("waits until the machine is idle", async () => {
  const testbed = testbedOn(0.9, 0.8, 0.1);
  await waitForIdle(testbed, 60);
  expect(testbed.polls).toBe(6);
});

test("waits no longer than the timeout", async () => {
  const testbed = testbedOn();
  await waitForIdle(testbed, 0.6);
  expect(testbed.polls).toBeLessThanOrEqual(6);
});
