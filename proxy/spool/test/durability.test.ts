import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { envelope, hand, handMany, isEmpty, metric, newId, outcome, repeatedEnvelopes } from "./report.ts";
import { ready, type Stack, startStack, until } from "./stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ SPOOL_RATE: "400" });
});
afterAll(() => stack?.stop());
afterEach(() => until(() => isEmpty(stack), 150_000));

const accepts = 200;

/** How long compose lets the spool end what it is doing. */
const compose = readFileSync(new URL("../../../docker-compose.yml", import.meta.url), "utf8");
const [, grace = ""] = /\n {2}spool:\n(?: {4}.*\n)*? {4}stop_grace_period: (\d+)s\n/.exec(compose) ?? [];

/** Sends until `interrupt` is over, `accepts` envelopes accepted before and after it; returns those that were answered 200. */
async function underLoad(item: string, interrupt: () => Promise<unknown>): Promise<string[]> {
  const ids: string[] = [];
  let over = false;
  const load = async () => {
    while (!over) ids.push(...(await handMany(stack.url, 64, item, 0, 8)));
  };
  const loading = load();
  const more = (mark = ids.length) => until(async () => ids.length >= mark + accepts);
  await more();
  await interrupt();
  await more();
  over = true;
  await loading;
  return ids;
}

test("killed -9 three times while it takes envelopes in: whatever it answered 200 for arrives, once", async () => {
  await stack.ingest({ status: 503 });
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    ids.push(
      ...(await underLoad("event", async () => {
        await stack.kill("spool");
        await ready(stack);
      })),
    );
  }
  await stack.ingest();
  await until(() => isEmpty(stack), 150_000);
  expect(ids.length).toBeGreaterThanOrEqual(6 * accepts);
  expect(await outcome(stack, ids)).toMatchObject({ lost: 0, repeated: 0 });
});

test("killed -9 three times while it delivers: nothing is lost, and repeats are counted", async () => {
  await stack.ingest({ status: 503 });
  const ids = await handMany(stack.url, 1_000, "log");
  const mark = await stack.recorder.count();
  await stack.ingest();
  for (let i = 1; i <= 3; i++) {
    await until(async () => (await stack.recorder.count()) > mark + i * 100);
    await stack.kill("spool");
  }
  await until(() => isEmpty(stack), 150_000);
  const { lost, repeated } = await outcome(stack, ids);
  expect(lost).toBe(0);
  // At most what was on its way at each kill.
  expect(repeated).toBeLessThanOrEqual(3 * 32);
  expect(await metric(stack, 'redelivered_total{category="log_item"}')).toBeGreaterThanOrEqual(
    await repeatedEnvelopes(stack, ids),
  );
  expect(await metric(stack, 'accepted_total{category="log_item"}')).toBe(1_000);
  expect(await metric(stack, 'delivered_total{category="log_item"}')).toBe(1_000);
});

test("stopped and started in the middle of both: nothing is lost and nothing comes twice", async () => {
  const ids = await underLoad("session", async () => {
    const mark = (await stack.seen()).length;
    await stack.ingest({ delay: 8_000 });
    await until(async () => (await stack.seen()).length > mark);
    await stack.on("spool", "stop", "-t", grace);
    await stack.ingest();
    expect(await stack.on("spool", "inspect", "-f", "{{.State.ExitCode}}")).toBe("0");
    await stack.on("spool", "start");
    await ready(stack);
  });
  await until(() => isEmpty(stack), 150_000);
  expect(await outcome(stack, ids)).toEqual({ lost: 0, repeated: 0 });
  expect(await metric(stack, 'redelivered_total{category="session"}'), await stack.logs()).toBe(0);
});

test("with another DSN, what waits for the old one is neither sent nor lost", async () => {
  await stack.ingest({ status: 503 });
  const old = await handMany(stack.url, 10);
  await stack.replaceSpool("--env=SENTRY_DSN=http://key@ingest:9000/8");
  await ready(stack);
  await stack.ingest();
  const mine = newId();
  await hand(stack.url, envelope("session", mine), { "x-spool-destination": "http://ingest:9000/api/8/envelope/" });
  // Worth less than what waits for the old one: were that ready to go, it would have gone first.
  await until(async () => (await outcome(stack, [mine])).lost === 0);
  expect(await metric(stack, 'queued_envelopes{category="error"}')).toBe(10);
  expect((await outcome(stack, old)).lost).toBe(10);
  await stack.replaceSpool();
  await until(() => isEmpty(stack));
  expect(await outcome(stack, old)).toEqual({ lost: 0, repeated: 0 });
});
