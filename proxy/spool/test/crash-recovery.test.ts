import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { printResult, rate } from "./support/fault-result.ts";
import { maybeStored, runLoad } from "./support/load.ts";
import { type Stack, startStack, waitUntilReady } from "./support/stack.ts";

/** How many envelopes are in flight (src/deliver/backoff.ts). */
const maxConcurrency = 32;
const outage = 20_000;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({}, { proxy: true });
});
afterAll(() => stack?.stop());

test(
  "spool and proxy are killed and restarted while the ingest is down for 20 s: nothing is lost",
  async () => {
    const load = await runLoad(stack, rate, async (more) => {
      await more(rate);
      await stack.on("ingest", "stop", "-t", "0");
      await sleep(outage / 6);
      await stack.kill("spool");
      await waitUntilReady(stack);
      await sleep(outage / 6);
      await stack.kill("proxy");
      await sleep(outage / 6);
      await Promise.all([stack.on("spool", "restart"), stack.on("proxy", "restart")]);
      await sleep(outage / 6);
      await stack.kill("spool", "proxy");
      await sleep(outage / 3);
      await stack.on("ingest", "start");
      await more(3 * rate);
      await stack.kill("spool");
      await more(rate);
    });
    const { lost, repeated } = await printResult(stack, "ingest down for 20 s, spool and proxy killed", load);
    expect(lost).toBe(0);
    // Each has a cause: it was stored without a response (with a 503 too: the spool was killed before it answered the proxy) and was
    // sent again, or it was being delivered when the spool was killed.
    expect(repeated).toBeLessThanOrEqual(maybeStored(load.retries) + 3 * maxConcurrency);
  },
  outage + 15 * 60_000,
);
