import { afterAll, beforeAll, expect, test } from "vitest";
import { outcome } from "./support/arrivals.ts";
import { envelope, newId, send, sendMany } from "./support/envelopes.ts";
import { isEmpty, metric } from "./support/metrics.ts";
import { type Stack, startStack, waitUntilReady } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

const logs = (line: string) => waitUntil(async () => (await stack.logs()).includes(line));

test("with another DSN, envelopes for the old one are neither sent nor lost, and the spool says so", async () => {
  await stack.ingest({ status: 503 });
  const old = await sendMany(stack.url, 10);
  expect(await metric(stack, "undeliverable_envelopes")).toBe(0);

  await stack.replaceSpool("--env=SENTRY_DSN=http://key@ingest:9000/8");
  await waitUntilReady(stack);
  await stack.ingest();
  const mine = newId();
  await send(stack.url, envelope("session", mine), { "x-spool-destination": "http://ingest:9000/api/8/envelope/" });
  // A lower priority than the envelopes for the old DSN: if those could be sent, they would be sent first.
  await waitUntil(async () => (await outcome(stack, [mine])).lost === 0);
  expect((await outcome(stack, old)).lost).toBe(10);
  expect(await metric(stack, "undeliverable_envelopes")).toBe(10);
  await logs("10 envelopes are queued for an ingest that is in no configured DSN");
  // A proxy that still has the old DSN.
  expect((await send(stack.url, envelope())).status).toBe(403);
  await logs("rejected envelopes for a DSN that this spool does not have");

  await stack.replaceSpool();
  await waitUntil(() => isEmpty(stack));
  expect(await outcome(stack, old)).toEqual({ lost: 0, repeated: 0 });
});
