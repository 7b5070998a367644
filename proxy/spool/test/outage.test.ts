import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { isEmpty, outcome } from "./report.ts";
import { ready, type Stack, startStack, until } from "./stack.ts";
import { type Visits, visit } from "./visitors.ts";

const rate = 200;
// A minute is the promise; `make test` takes a shorter one, and what is asserted stays the same.
const seconds = Number(process.env.OUTAGE_S ?? 60);
const outage = seconds * 1_000;
const minutes = 60_000;

let stack: Stack;
afterEach(() => stack?.stop());

/** Waits for what is left, a minute at most, and prints the row for the table: sent, lost, repeated. */
async function row(fault: string, visits: Visits): Promise<{ lost: number; repeated: number }> {
  const began = Date.now();
  await until(() => isEmpty(stack), 60_000);
  const result = await outcome(stack, visits.ids);
  const drained = Math.round((Date.now() - began) / 1_000);
  const { seen, failed } = visits.pages;
  console.log(
    `${fault}: sent ${visits.ids.length}, offered again ${JSON.stringify(visits.again)}, lost ${result.lost}, repeated ${result.repeated}, ` +
      `empty ${drained} s after the load's end, pages ${seen}, failed ${JSON.stringify(failed)}`,
  );
  return result;
}

describe(`${rate} reports a second through the proxy`, () => {
  test(`the ingest is gone for ${seconds} s`, { timeout: 4 * minutes }, async () => {
    stack = await startStack({}, { proxy: true });
    const visits = await visit(stack, rate, async () => {
      await pause(3_000);
      await stack.on("ingest", "stop", "-t", "0");
      await pause(outage);
      await stack.on("ingest", "start");
      await pause(5_000);
    });
    const { lost, repeated } = await row(`ingest gone for ${seconds} s`, visits);
    expect(lost).toBe(0);
    // What it had taken and not answered yet when it went.
    expect(repeated).toBeLessThan(50);
    expect(visits.ids.length).toBeGreaterThan((seconds + 5) * rate * 0.8);
    expect(visits.pages.failed).toEqual([]);
    expect(visits.again).toEqual({});
  });

  test("… and meanwhile the spool is killed, the proxy is killed, and both are restarted", {
    timeout: 4 * minutes,
  }, async () => {
    stack = await startStack({}, { proxy: true });
    const visits = await visit(stack, rate, async () => {
      await pause(3_000);
      await stack.on("ingest", "stop", "-t", "0");
      await pause(outage / 6);
      await stack.on("spool", "kill", "-s", "KILL");
      await stack.on("spool", "start");
      await ready(stack);
      await pause(outage / 6);
      await stack.on("proxy", "kill", "-s", "KILL");
      await stack.on("proxy", "start");
      await pause(outage / 6);
      await Promise.all([stack.on("spool", "restart"), stack.on("proxy", "restart")]);
      await pause(outage / 6);
      await stack.on("ingest", "start");
      await pause(5_000);
      await stack.on("spool", "kill", "-s", "KILL");
      await stack.on("spool", "start");
      await pause(5_000);
    });
    const { lost, repeated } = await row("… with spool and proxy killed and restarted", visits);
    expect(lost).toBe(0);
    // A report whose answer the kill cut off is offered again, as it must be; the rest is what was on its way.
    expect(repeated).toBeLessThan(200);
  });

  test.each([
    ["the ingest hangs for a while", [{ delay: 60_000, cut: "body" as const }]],
    ["the ingest cuts connections in the middle of bodies for a while", [{ cut: "body" as const }]],
    ["the ingest answers 503 for a while", [{ status: 503 }]],
  ])("%s", { timeout: 3 * minutes }, async (fault, rules) => {
    stack = await startStack({}, { proxy: true });
    const visits = await visit(stack, rate, async () => {
      await pause(3_000);
      await stack.ingest(...rules);
      await pause(outage / 4);
      await stack.ingest();
      await pause(5_000);
    });
    expect((await row(fault, visits)).lost).toBe(0);
    expect(visits.pages.failed).toEqual([]);
    expect(visits.again).toEqual({});
  });
});
