import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { outageSeconds, rate, row } from "./outage.ts";
import { ready, type Stack, startStack } from "./stack.ts";
import { visit } from "./visitors.ts";

/** How many a spool delivers at once (src/pace.ts). */
const inDelivery = 32;
const outage = outageSeconds * 1_000;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({}, { proxy: true });
});
afterAll(() => stack?.stop());

test(
  `spool and proxy are killed and restarted while the ingest is gone for ${outageSeconds} s: nothing is lost`,
  async () => {
    let back = 0;
    const visits = await visit(stack, rate, async (more) => {
      await more(rate);
      await stack.on("ingest", "stop", "-t", "0");
      await pause(outage / 6);
      await stack.kill("spool");
      await ready(stack);
      await pause(outage / 6);
      await stack.kill("proxy");
      await pause(outage / 6);
      await Promise.all([stack.on("spool", "restart"), stack.on("proxy", "restart")]);
      await pause(outage / 6);
      await stack.kill("spool", "proxy");
      await pause(outage / 3);
      await stack.on("ingest", "start");
      back = Date.now();
      await more(3 * rate);
      await stack.kill("spool");
      await more(rate);
    });
    const fault = `ingest gone for ${outageSeconds} s, spool and proxy killed`;
    const { lost, repeated } = await row(stack, fault, visits, back);
    expect(lost).toBe(0);
    // Each has a cause: its answer did not come, so that it was offered again, or it was being delivered when the spool was killed.
    const unanswered = Object.values(visits.again).reduce((sum, count) => sum + count, 0);
    expect(repeated).toBeLessThanOrEqual(unanswered + 3 * inDelivery);
  },
  outage + 5 * 60_000,
);
