import { afterEach, expect, test } from "vitest";
import { outcome } from "./support/arrivals.ts";
import { sendMany } from "./support/envelopes.ts";
import { isEmpty } from "./support/metrics.ts";
import { type Stack, startStack } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

let stack: Stack;
afterEach(() => stack?.stop());

test("SPOOL_RATE: a returning ingest gets a part of it at first, and never more than all of it", async () => {
  stack = await startStack({ SPOOL_RATE: "50" });
  await stack.ingest({ status: 503 });
  const ids = await sendMany(stack.url, 400);
  await stack.ingest();
  await waitUntil(() => isEmpty(stack), 600_000);
  expect(await outcome(stack, ids)).toEqual({ lost: 0, repeated: 0 });
  const times = (await stack.seen()).filter(({ status }) => status === 200).map(({ at }) => at);
  // Longer than a second: the envelopes in flight while a container stalls, at most 32, arrive together.
  const inFourSeconds = times.map((from) => times.filter((at) => at >= from && at < from + 4_000).length);
  expect(Math.max(...inFourSeconds)).toBeLessThanOrEqual(4 * 50 + 40);
  expect(inFourSeconds[0]).toBeLessThan(150);
});
