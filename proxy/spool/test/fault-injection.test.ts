import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { printResult, rate } from "./support/fault-result.ts";
import { runLoad } from "./support/load.ts";
import { acceptedEnvelopes } from "./support/metrics.ts";
import { changeConfig } from "./support/proxy-config.ts";
import { type Stack, startStack } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

// A sixth of the open envelopes that the proxy allows: a busy machine does not send 600 within 5 s.
const limit = "limit_conn tunnel_open 600;";
const lowered = changeConfig("templates/forward-to-ingest.conf", limit, limit.replace("600", "100"));
let stack: Stack;
beforeAll(async () => {
  stack = await startStack({}, { proxy: true, proxyArgs: lowered.args });
});
afterAll(async () => {
  await stack?.stop();
  lowered.remove();
});

const heal = () => stack.ingest();
// The ingest accepts no envelope that fails.
const once = { lost: 0, repeated: 0 };
type Step = () => Promise<unknown>;

test.each<[fault: string, begin: Step, end?: Step, result?: object]>([
  ["the ingest refuses connections", () => stack.ingest({ gone: true })],
  ["the ingest hangs", () => stack.ingest({ delay: 60_000, cut: "body" })],
  ["the ingest cuts connections in the middle of bodies", () => stack.ingest({ cut: "body" }), heal, once],
  ["the ingest answers 503", () => stack.ingest({ status: 503 }), heal, once],
  [
    "the ingest's name does not resolve",
    () => stack.on("ingest", "network", "disconnect", stack.id),
    () => stack.on("ingest", "network", "connect", "--alias=ingest", stack.id),
  ],
  [
    "the ingest takes 5 s for each, until more are open than the proxy allows: the spool gets the others",
    async () => {
      const before = await acceptedEnvelopes(stack);
      await stack.ingest({ delay: 5_000 });
      await waitUntil(async () => (await acceptedEnvelopes(stack)) > before + 100, 600_000);
    },
  ],
])(
  `%s for a while, at ${rate} envelopes per second: nothing is lost or sent again, no page fails`,
  { timeout: 15 * 60_000 },
  async (fault, begin, end = heal, result = { lost: 0 }) => {
    const load = await runLoad(stack, rate, async (more) => {
      await more(rate);
      // Also after a failure: the next test starts with a healthy ingest.
      await begin()
        .then(() => sleep(3_000))
        .finally(end);
      const mark = (await stack.seen()).length;
      await waitUntil(async () => (await stack.seen(mark)).some(({ status }) => status === 200));
      await more(rate);
    });
    expect(await printResult(stack, fault, load)).toMatchObject(result);
    expect([load.pages.failed, load.retries]).toEqual([[], {}]);
  },
);
