import { afterAll, beforeAll, expect, test } from "vitest";
import { envelope, hand, metric } from "./report.ts";
import { ready, type Stack, startStack } from "./stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

test("a spool that got another DSN than its envelopes and the proxy have says both", async () => {
  await stack.on("ingest", "pause");
  expect((await hand(stack.url, envelope())).status).toBe(200);
  expect(await metric(stack, "undeliverable_envelopes")).toBe(0);

  await stack.replaceSpool("--env=SENTRY_DSN=http://key@ingest:9000/99");
  await ready(stack);
  expect(await metric(stack, "undeliverable_envelopes")).toBe(1);
  await expect
    .poll(stack.logs, { timeout: 90_000 })
    .toContain("1 envelopes are queued for an ingest that is in no configured DSN");

  expect((await hand(stack.url, envelope())).status).toBe(403);
  await expect
    .poll(stack.logs, { timeout: 90_000 })
    .toContain("rejected envelopes for a DSN that this spool does not have");
});
