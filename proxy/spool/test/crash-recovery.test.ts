import { afterAll, beforeAll, expect, test } from "vitest";
import { runLoad, unsent } from "./support/load.ts";
import { type Stack, startStack } from "./support/stack.ts";

/** How many envelopes are in flight (src/deliver/backoff.ts). */
const maxConcurrency = 32;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({}, { proxy: [] });
});
afterAll(() => stack?.stop());

test("spool and proxy are killed and restarted while the ingest is down: nothing is lost", async () => {
  const { lost, repeated, retries } = await runLoad(stack, async (more) => {
    const steps = [
      () => stack.on("ingest", "stop", "-t", "0"),
      () => stack.kill("spool").then(stack.ready),
      () => stack.kill("proxy"),
      () => Promise.all([stack.on("spool", "restart"), stack.on("proxy", "restart")]),
      () => stack.kill("spool", "proxy"),
      () => stack.on("ingest", "start"),
      () => stack.kill("spool"),
    ];
    for (const step of steps) {
      await more(150);
      await step();
    }
    await more(150);
  });
  expect(lost).toBe(0);
  // Each has a cause: it was stored without a response (with a 503 too: the spool was killed before it answered the proxy) and was
  // sent again, or it was being delivered when the spool was killed. The proxy stores nothing that it did not receive, or rejected.
  const stored = Object.entries(retries).filter(([answer]) => answer !== "429" && !answer.endsWith(unsent));
  const maybeStored = stored.reduce((sum, [, count]) => sum + count, 0);
  expect(repeated).toBeLessThanOrEqual(maybeStored + 3 * maxConcurrency);
});
