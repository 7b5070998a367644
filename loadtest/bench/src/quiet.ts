import { setTimeout as pause } from "node:timers/promises";
import type { Reading } from "./meter.ts";
import type { MachineTime } from "./processor.ts";
import type { Stage } from "./stage.ts";

const LOOK_MS = 250;

/** A machine counts as quiet while others leave three quarters of it idle. */
const QUIET = 0.25;

/** What the whole machine did between two readings; all meters of a machine show the same, so the first is asked. */
export function machineWork([before]: Reading[], [after]: Reading[]): MachineTime {
  if (!before || !after) throw new Error("no readings");
  return { worked: after.machine.worked - before.machine.worked, all: after.machine.all - before.machine.all };
}

/** Waits until the machine is quiet, for `seconds` at most: on a shared one, others' work makes every figure worse and none truer. */
export async function waitForQuiet(stage: Stage, seconds: number): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (Date.now() < deadline) {
    const before = await stage.processorTime("load");
    await pause(LOOK_MS);
    const { worked, all } = machineWork(before, await stage.processorTime("load"));
    if (worked <= QUIET * all) return;
  }
}
