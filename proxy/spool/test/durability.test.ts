import { afterEach, expect, test } from "vitest";
import { envelope, hand, handMany, isEmpty, metric, newId, outcome } from "./report.ts";
import { ready, type Stack, startStack, until } from "./stack.ts";

let stack: Stack;
afterEach(() => stack?.stop());

const accepts = 500;

/** Sends until `interrupt` is over, `accepts` reports accepted before and after it; returns those that were answered 200. */
async function underLoad(interrupt: () => Promise<unknown>): Promise<string[]> {
  const ids: string[] = [];
  let over = false;
  const load = async () => {
    while (!over) ids.push(...(await handMany(await stack.url().catch(() => "http://127.0.0.1:9"), 64)));
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

const killed = async () => {
  await stack.on("spool", "kill", "-s", "KILL");
  await stack.on("spool", "start");
};

test("killed -9 three times while it takes envelopes in: whatever it answered 200 for arrives, once", async () => {
  stack = await startStack({ SPOOL_RATE: "10000" });
  await stack.ingest({ status: 503 });
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    ids.push(
      ...(await underLoad(async () => {
        await killed();
        await ready(stack);
      })),
    );
  }
  await stack.ingest();
  await until(() => isEmpty(stack), 80_000);
  expect(ids.length).toBeGreaterThanOrEqual(6 * accepts);
  expect(await outcome(stack, ids)).toMatchObject({ lost: 0, repeated: 0 });
});

test("killed -9 three times while it delivers: nothing is lost, and repeats are counted", async () => {
  stack = await startStack({ SPOOL_RATE: "400" });
  await stack.ingest({ status: 503 });
  const ids = await handMany(await stack.url(), 1_000);
  await stack.ingest();
  for (let i = 1; i <= 3; i++) {
    await until(async () => (await stack.recorder.count()) > i * 100);
    await killed();
  }
  await until(() => isEmpty(stack), 60_000);
  const { lost, repeated } = await outcome(stack, ids);
  expect(lost).toBe(0);
  // At most what was on its way at each kill.
  expect(repeated).toBeLessThanOrEqual(3 * 32);
  expect(await metric(stack, 'repeated_total{category="error"}')).toBeGreaterThanOrEqual(repeated);
  expect(await metric(stack, 'accepted_total{category="error"}')).toBe(1_000);
  expect(await metric(stack, 'delivered_total{category="error"}')).toBe(1_000);
});

test("stopped and started in the middle of both: nothing is lost and nothing comes twice", async () => {
  stack = await startStack({ SPOOL_RATE: "400" });
  const ids = await underLoad(async () => {
    await stack.on("spool", "stop");
    expect(await stack.on("spool", "inspect", "-f", "{{.State.ExitCode}}")).toBe("0");
    await stack.on("spool", "start");
    await ready(stack);
  });
  await until(() => isEmpty(stack), 80_000);
  expect(await outcome(stack, ids)).toEqual({ lost: 0, repeated: 0 });
  expect(await metric(stack, 'repeated_total{category="error"}'), await stack.logs()).toBe(0);
});

test("with another DSN, what waits for the old one is neither sent nor lost", async () => {
  stack = await startStack();
  await stack.ingest({ status: 503 });
  await handMany(await stack.url(), 10);
  await stack.on("spool", "stop");
  const other = await startStack(
    { SENTRY_DSN: "http://key@ingest:9000/8" },
    { args: [`--volume=${stack.id}:/var/lib/spool`] },
  );
  try {
    const mine = newId();
    await hand(await other.url(), envelope("session", mine), { "x-spool-to": "http://ingest:9000/api/8/envelope/" });
    // Worth less than what waits for the old one: were that ready to go, it would have gone first.
    await until(async () => (await outcome(other, [mine])).lost === 0);
    expect(await metric(other, 'waiting_envelopes{category="error"}')).toBe(10);
    expect(await other.seen()).toHaveLength(1);
  } finally {
    await other.stop();
  }
});
