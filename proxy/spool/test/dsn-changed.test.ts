import { afterAll, beforeAll, expect, test } from "vitest";
import { envelope, send } from "./support/envelopes.ts";
import { metric } from "./support/metrics.ts";
import { type Stack, startStack, waitUntilReady } from "./support/stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

test("a spool with another DSN than its envelopes and the proxy logs both", async () => {
  await stack.on("ingest", "pause");
  expect((await send(stack.url, envelope())).status).toBe(200);
  expect(await metric(stack, "undeliverable_envelopes")).toBe(0);

  await stack.replaceSpool("--env=SENTRY_DSN=http://key@ingest:9000/99");
  await waitUntilReady(stack);
  expect(await metric(stack, "undeliverable_envelopes")).toBe(1);
  await expect
    .poll(stack.logs, { timeout: 90_000 })
    .toContain("1 envelopes are queued for an ingest that is in no configured DSN");

  expect((await send(stack.url, envelope())).status).toBe(403);
  await expect
    .poll(stack.logs, { timeout: 90_000 })
    .toContain("rejected envelopes for a DSN that this spool does not have");
});
