import { afterAll, beforeAll, expect, test } from "vitest";
import { outcome } from "./support/arrivals.ts";
import { envelope, newId, sendMany } from "./support/envelopes.ts";
import { printResult, rate } from "./support/fault-result.ts";
import type { Rule } from "./support/ingest.ts";
import { runLoad } from "./support/load.ts";
import { isEmpty, metric } from "./support/metrics.ts";
import { requestProxy } from "./support/proxy-request.ts";
import { type Stack, startStack, waitUntilReady } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({}, { proxy: true });
});
afterAll(() => stack?.stop());

test.each<[string, Rule]>([
  ["takes 4 s: it answers them", { delay: 4_000 }],
  ["hangs: the spool queues them", { delay: 60_000, cut: "body" }],
])("restart proxy: envelopes in flight are answered before it stops, to an ingest that %s", async (_, fault) => {
  await waitUntil(async () => (await requestProxy(stack.proxy, "/upstream")) === 200);
  await stack.ingest(fault);
  const mark = (await stack.seen()).length;
  const ids = Array.from({ length: 50 }, newId);
  const post = (id: string) => requestProxy(stack.proxy, "/monitoring", envelope("event", id, 1_900));
  const answers = Promise.all(ids.map(post));
  await waitUntil(async () => (await stack.seen(mark)).length >= 50, 600_000);
  await stack.on("proxy", "restart");
  expect(await answers).toEqual(ids.map(() => 200));
  await stack.ingest();
  await waitUntil(() => isEmpty(stack), 600_000);
  expect((await outcome(stack, ids)).lost).toBe(0);
});

test("stop spool, and start it, while it receives and delivers: nothing is lost or repeated", async () => {
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
  expect(await metric(stack, 'redelivered_total{category="session"}')).toBe(0);
});

test("restart spool under load while the ingest answers 503: every envelope gets a response, and nothing is lost", async () => {
  await stack.ingest({ status: 503 });
  const load = await runLoad(stack, rate, async (more) => {
    await more(rate);
    await stack.on("spool", "restart");
    await waitUntilReady(stack);
    await more(rate);
  });
  await stack.ingest();
  expect(await printResult(stack, "restart spool", load)).toMatchObject({ lost: 0 });
  expect(Object.keys(load.retries).filter((answer) => answer !== "503")).toEqual([]);
});
