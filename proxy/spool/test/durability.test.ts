import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { outcome, repeatedEnvelopes } from "./support/arrivals.ts";
import { sendMany } from "./support/envelopes.ts";
import { isEmpty, metric } from "./support/metrics.ts";
import { type Stack, startStack, waitUntilReady } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ SPOOL_RATE: "10000" });
});
afterAll(() => stack?.stop());
afterEach(() => waitUntil(() => isEmpty(stack), 600_000));

test("killed three times while it receives and delivers: nothing is lost, and redeliveries are counted", async () => {
  await stack.ingest({ status: 503 });
  const ids = await sendMany(stack.url, 1_000, "log");
  const mark = await stack.recorder.count();
  await stack.ingest();
  const sending: Promise<string[]>[] = [];
  for (let i = 1; i <= 3; i++) {
    await waitUntil(async () => (await stack.recorder.count()) > mark + i * 100);
    sending.push(sendMany(stack.url, 1_000, "log"));
    await stack.kill("spool");
  }
  ids.push(...(await Promise.all(sending)).flat());
  await waitUntil(() => isEmpty(stack), 600_000);
  const { lost, repeated } = await outcome(stack, ids);
  expect(lost).toBe(0);
  // At most the envelopes in flight at each kill.
  expect(repeated).toBeLessThanOrEqual(3 * 32);
  expect(await metric(stack, 'redelivered_total{category="log_item"}')).toBeGreaterThanOrEqual(
    await repeatedEnvelopes(stack, ids),
  );
  // Some were stored, but not answered before a kill.
  const accepted = await metric(stack, 'accepted_total{category="log_item"}');
  expect(accepted).toBeGreaterThanOrEqual(ids.length);
  expect(await metric(stack, 'delivered_total{category="log_item"}')).toBe(accepted);
});

test("stopped and started while it receives and delivers: nothing is lost or repeated", async () => {
  await stack.ingest({ delay: 8_000 });
  const mark = (await stack.seen()).length;
  const ids = await sendMany(stack.url, 100, "session");
  await waitUntil(async () => (await stack.seen()).length > mark);
  const sending = sendMany(stack.url, 2_000, "session");
  await stack.on("spool", "stop");
  await stack.ingest();
  expect(await stack.on("spool", "inspect", "-f", "{{.State.ExitCode}}")).toBe("0");
  await stack.on("spool", "start");
  ids.push(...(await sending));
  await waitUntilReady(stack);
  await waitUntil(() => isEmpty(stack), 600_000);
  expect(await outcome(stack, ids)).toEqual({ lost: 0, repeated: 0 });
  expect(await metric(stack, 'redelivered_total{category="session"}'), await stack.logs()).toBe(0);
});
