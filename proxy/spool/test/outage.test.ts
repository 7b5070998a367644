import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { outageSeconds, rate, row } from "./outage.ts";
import { ready, type Stack, startStack } from "./stack.ts";
import { visit } from "./visitors.ts";

const outage = outageSeconds * 1_000;
const long = { timeout: outage + 3 * 60_000 };

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({}, { proxy: true });
});
afterAll(() => stack?.stop());

describe(`${rate} reports a second through the proxy`, () => {
  test(`the ingest is gone for ${outageSeconds} s`, long, async () => {
    const visits = await visit(stack, rate, async (more) => {
      await more(2 * rate);
      await stack.on("ingest", "stop", "-t", "0");
      await pause(outage);
      await stack.on("ingest", "start");
      await more(2 * rate);
    });
    const { lost, repeated } = await row(stack, `ingest gone for ${outageSeconds} s`, visits);
    expect(lost).toBe(0);
    // What it had taken and not answered yet when it went.
    expect(repeated).toBeLessThan(rate);
    expect(visits.ids.length).toBeGreaterThan(outageSeconds * rate * 0.5);
    expect(visits.pages.failed).toEqual([]);
    expect(visits.again).toEqual({});
  });

  test(
    "… and meanwhile the spool is killed, the proxy is killed, both are restarted, and both are killed",
    long,
    async () => {
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
        await pause(outage / 6);
        await stack.on("ingest", "start");
        await more(3 * rate);
        await stack.kill("spool");
        await more(rate);
      });
      const { lost, repeated } = await row(stack, "… with spool and proxy killed and restarted", visits);
      expect(lost).toBe(0);
      // A report whose answer the kill cut off is offered again, as it must be; the rest is what was on its way.
      expect(repeated).toBeLessThan(visits.ids.length / 3);
    },
  );
});
