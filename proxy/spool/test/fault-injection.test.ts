import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultSeconds, printResult, rate } from "./support/fault-result.ts";
import { runLoad } from "./support/load.ts";
import { acceptedEnvelopes } from "./support/metrics.ts";
import { changeConfig } from "./support/proxy-config.ts";
import { type Stack, startStack } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

const faultMs = faultSeconds * 1_000;
const timeout = 15 * 60_000;

type Step = () => Promise<unknown>;

let stack: Stack;

/** Starts a stack before the tests of the calling block, its proxy with these arguments for `docker run`, and stops it after them. */
function useStack(...proxyArgs: string[]): void {
  beforeAll(async () => {
    stack = await startStack({}, { proxy: true, proxyArgs });
  });
  afterAll(() => stack?.stop());
}

/** Injects a fault for a while; resolves when the ingest accepts envelopes again. */
async function inject(begin: Step, end: Step): Promise<void> {
  // Also after a failure: the next test starts with a healthy ingest.
  await begin()
    .then(() => sleep(faultMs))
    .finally(end);
  const mark = (await stack.seen()).length;
  await waitUntil(async () => (await stack.seen(mark)).some(({ status }) => status === 200));
}

/** Faults in which the ingest does not accept the envelopes that fail. */
const acceptsNone = ["the ingest answers 503", "the ingest cuts connections in the middle of bodies"];

const heal = () => stack.ingest();

/** Injects a fault under load: nothing is lost, nothing has to be sent again, no page fails. */
async function expectNoneFails(fault: string, begin: Step, end: Step): Promise<void> {
  const load = await runLoad(stack, rate, async (more) => {
    await more(rate);
    await inject(begin, end);
    await more(rate);
  });
  expect(await printResult(stack, fault, load)).toMatchObject({
    lost: 0,
    ...(acceptsNone.includes(fault) && { repeated: 0 }),
  });
  expect(load.pages.failed).toEqual([]);
  expect(load.retries).toEqual({});
}

describe(`${rate} envelopes a second through the proxy: nothing is lost, nothing has to be sent again, no page fails`, () => {
  useStack();
  test.each<[string, Step, Step]>([
    ["the ingest refuses connections", () => stack.ingest({ gone: true }), heal],
    ["the ingest hangs", () => stack.ingest({ delay: 60_000, cut: "body" }), heal],
    ["the ingest cuts connections in the middle of bodies", () => stack.ingest({ cut: "body" }), heal],
    ["the ingest answers 503", () => stack.ingest({ status: 503 }), heal],
    [
      "the ingest's name does not resolve",
      () => stack.on("ingest", "network", "disconnect", stack.id),
      () => stack.on("ingest", "network", "connect", "--alias=ingest", stack.id),
    ],
    [
      "the ingest flaps",
      async () => {
        for (let i = 0; i < 4; i++) {
          await stack.ingest({ status: 502 });
          await sleep(faultMs / 8);
          await heal();
          await sleep(faultMs / 8);
        }
      },
      heal,
    ],
  ])("%s for a while", { timeout }, expectNoneFails);
});

describe("with a sixth of the open envelopes that the proxy allows: a busy machine does not send 600 within 5 s", () => {
  const lowered = changeConfig("templates/forward-to-ingest.conf", {
    "limit_conn tunnel_open 600;": "limit_conn tunnel_open 100;",
  });
  useStack(...lowered.args);
  afterAll(lowered.remove);

  test("the ingest takes 5 s for each, until more are open than that", { timeout }, async ({ task }) => {
    const begin = async () => {
      const before = await acceptedEnvelopes(stack);
      await stack.ingest({ delay: 5_000 });
      // The ingest accepts all it gets: the spool gets the envelopes above the limit.
      await waitUntil(async () => (await acceptedEnvelopes(stack)) > before + 100, 600_000);
    };
    await expectNoneFails(task.name, begin, heal);
  });
});
