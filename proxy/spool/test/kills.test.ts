import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { outageSeconds, rate, row } from "./outage.ts";
import { ready, type Stack, startStack } from "./stack.ts";
import { visit } from "./visitors.ts";

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
    // A report whose answer a kill cut off is offered again, as it must be; the rest is what was on its way.
    expect(repeated).toBeLessThan(200);
  },
  outage + 3 * 60_000,
);
