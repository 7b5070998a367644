import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultSeconds, printResult, rate } from "./support/fault-result.ts";
import { runLoad } from "./support/load.ts";
import { acceptedEnvelopes } from "./support/metrics.ts";
import { type Stack, startStack } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

const faultMs = faultSeconds * 1_000;

/** The proxy's limits with a tenth of its 1000 open envelopes: a busy machine does not send 1000 within the ingest's 5 s. */
const limits = "snippets/rate-limits.conf";
const folder = mkdtempSync(join(tmpdir(), "culvert-"));
const text = readFileSync(new URL(`../../${limits}`, import.meta.url), "utf8");
writeFileSync(join(folder, "limits.conf"), text.replace("limit_conn tunnel_open 1000;", "limit_conn tunnel_open 100;"));

let stack: Stack;
beforeAll(async () => {
  chmodSync(folder, 0o755);
  stack = await startStack({}, { proxy: true, proxyArgs: [`--volume=${folder}/limits.conf:/etc/nginx/${limits}:ro`] });
});
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true });
});

/** Injects a fault for a while; resolves when the ingest accepts envelopes again. */
async function inject(begin: () => Promise<unknown>, end: () => Promise<unknown>): Promise<void> {
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

describe(`${rate} envelopes a second through the proxy: nothing is lost, nothing has to be sent again, no page fails`, () => {
  test.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    ["the ingest refuses connections", () => stack.ingest({ gone: true }), heal],
    ["the ingest hangs", () => stack.ingest({ delay: 60_000, cut: "body" }), heal],
    ["the ingest cuts connections in the middle of bodies", () => stack.ingest({ cut: "body" }), heal],
    ["the ingest answers 503", () => stack.ingest({ status: 503 }), heal],
    [
      "the ingest takes 5 s for each, until more are open than the proxy allows",
      async () => {
        const before = await acceptedEnvelopes(stack);
        await stack.ingest({ delay: 5_000 });
        // The ingest accepts all it gets: the spool gets the envelopes above the limit.
        await waitUntil(async () => (await acceptedEnvelopes(stack)) > before + 100, 150_000);
      },
      heal,
    ],
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
  ])("%s for a while", { timeout: 5 * 60_000 }, async (fault, begin, end) => {
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
  });
});
