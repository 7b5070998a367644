import { setTimeout as pause } from "node:timers/promises";
import type { Reading } from "./meter.ts";
import type { MachineTime } from "./processor.ts";
import type { Testbed } from "./testbed.ts";

const POLL_INTERVAL_MS = 250;

/** The machine counts as idle if other work uses at most this share of it. */
const MAX_BUSY_SHARE = 0.25;

/** The work of the whole machine between two readings; every container's meter shows the same, so the first is used. */
export function machineWork([before]: Reading[], [after]: Reading[]): MachineTime {
  if (!before || !after) throw new Error("no readings");
  return { worked: after.machine.worked - before.machine.worked, all: after.machine.all - before.machine.all };
}

/** Waits until the machine is idle, for `seconds` at most, because other work on a shared machine distorts every figure. */
export async function waitForIdle(testbed: Testbed, seconds: number): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (Date.now() < deadline) {
    const before = await testbed.processorTime("load");
    await pause(POLL_INTERVAL_MS);
    const { worked, all } = machineWork(before, await testbed.processorTime("load"));
    if (worked <= MAX_BUSY_SHARE * all) return;
  }
}
