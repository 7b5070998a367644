import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { outcome, repeatedEnvelopes } from "./support/arrivals.ts";
import { sendMany } from "./support/envelopes.ts";
import { isEmpty, metric } from "./support/metrics.ts";
import { type Stack, startStack, waitUntilReady } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ SPOOL_RATE: "400" });
});
afterAll(() => stack?.stop());
afterEach(() => waitUntil(() => isEmpty(stack), 600_000));

const accepts = 200;

/** The stop_grace_period of the spool in docker-compose.yml. */
const compose = readFileSync(new URL("../../../docker-compose.yml", import.meta.url), "utf8");
const [, grace = ""] = /\n {2}spool:\n(?: {4}.*\n)*? {4}stop_grace_period: (\d+)s\n/.exec(compose) ?? [];

/** Sends until `interrupt` has ended, with `accepts` envelopes accepted before and after it; returns those answered with 200. */
async function underLoad(item: string, interrupt: () => Promise<unknown>): Promise<string[]> {
  const ids: string[] = [];
  let over = false;
  const client = async () => {
    while (!over) {
      ids.push(...(await sendMany(stack.url, 1, item, 0, 1)));
      // Without it, what is sent while the spool restarts would take the processor from it, and delivery longer than the test.
      await pause(20);
    }
  };
  const loading = Promise.all(Array.from({ length: 8 }, client));
  const more = (mark = ids.length) => waitUntil(async () => ids.length >= mark + accepts);
  await more();
  await interrupt();
  await more();
  over = true;
  await loading;
  return ids;
}

test("killed three times while it receives: every envelope answered with 200 arrives, once", async () => {
  await stack.ingest({ status: 503 });
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    ids.push(
      ...(await underLoad("event", async () => {
        await stack.kill("spool");
        await waitUntilReady(stack);
      })),
    );
  }
  await stack.ingest();
  await waitUntil(() => isEmpty(stack), 600_000);
  expect(ids.length).toBeGreaterThanOrEqual(6 * accepts);
  expect(await outcome(stack, ids)).toMatchObject({ lost: 0, repeated: 0 });
});

test("killed three times while it delivers: nothing is lost, and redeliveries are counted", async () => {
  await stack.ingest({ status: 503 });
  const ids = await sendMany(stack.url, 1_000, "log");
  const mark = await stack.recorder.count();
  await stack.ingest();
  for (let i = 1; i <= 3; i++) {
    await waitUntil(async () => (await stack.recorder.count()) > mark + i * 100);
    await stack.kill("spool");
  }
  await waitUntil(() => isEmpty(stack), 600_000);
  const { lost, repeated } = await outcome(stack, ids);
  expect(lost).toBe(0);
  // At most the envelopes in flight at each kill.
  expect(repeated).toBeLessThanOrEqual(3 * 32);
  expect(await metric(stack, 'redelivered_total{category="log_item"}')).toBeGreaterThanOrEqual(
    await repeatedEnvelopes(stack, ids),
  );
  expect(await metric(stack, 'accepted_total{category="log_item"}')).toBe(1_000);
  expect(await metric(stack, 'delivered_total{category="log_item"}')).toBe(1_000);
});

test("stopped and started while it receives and delivers: nothing is lost or repeated", async () => {
  const ids = await underLoad("session", async () => {
    const mark = (await stack.seen()).length;
    await stack.ingest({ delay: 8_000 });
    await waitUntil(async () => (await stack.seen()).length > mark);
    await stack.on("spool", "stop", "-t", grace);
    await stack.ingest();
    expect(await stack.on("spool", "inspect", "-f", "{{.State.ExitCode}}")).toBe("0");
    await stack.on("spool", "start");
    await waitUntilReady(stack);
  });
  await waitUntil(() => isEmpty(stack), 600_000);
  expect(await outcome(stack, ids)).toEqual({ lost: 0, repeated: 0 });
  expect(await metric(stack, 'redelivered_total{category="session"}'), await stack.logs()).toBe(0);
});
