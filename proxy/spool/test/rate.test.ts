import { afterEach, expect, test } from "vitest";
import { handMany, isEmpty, outcome } from "./report.ts";
import { type Stack, startStack, until } from "./stack.ts";

let stack: Stack;
afterEach(() => stack?.stop());

test("SPOOL_RATE: a returning ingest gets a part of it at first, and never more", async () => {
  stack = await startStack({ SPOOL_RATE: "50" });
  await stack.ingest({ status: 503 });
  const ids = await handMany(stack.url, 400);
  await stack.ingest();
  await until(() => isEmpty(stack), 150_000);
  expect(await outcome(stack, ids)).toEqual({ lost: 0, repeated: 0 });
  const times = (await stack.seen()).filter(({ status }) => status === 200).map(({ at }) => at);
  // Longer than a second: what is on its way while a container stalls, 32 at most, arrives at once.
  const inFourSeconds = times.map((from) => times.filter((at) => at >= from && at < from + 4_000).length);
  expect(Math.max(...inFourSeconds)).toBeLessThanOrEqual(4 * 50 + 40);
  expect(inFourSeconds[0]).toBeLessThan(150);
});
