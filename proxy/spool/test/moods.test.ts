import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { moodSeconds, rate, row } from "./outage.ts";
import { type Stack, startStack, until } from "./stack.ts";
import { visit } from "./visitors.ts";

const lasts = moodSeconds * 1_000;

/** The proxy's limits, with room for a tenth of its 1000 open envelopes: a busy machine doesn't send 1000 within an ingest's 5 s. */
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

/** The ingest has this trouble for a while; resolves when it takes reports again. */
async function trouble(begin: () => Promise<unknown>, end: () => Promise<unknown>): Promise<void> {
  // Also after a failure: the next test begins with an ingest that is well.
  await begin()
    .then(() => pause(lasts))
    .finally(end);
  const mark = (await stack.seen()).length;
  await until(async () => (await stack.seen(mark)).some(({ status }) => status === 200));
}

/** Here an ingest that failed has nothing of a report. */
const takesNone = ["the ingest answers 503", "the ingest cuts connections in the middle of bodies"];

const well = () => stack.ingest();

/** How many envelopes the spool has taken. */
async function kept(): Promise<number> {
  const text = await (await fetch(`${stack.url}/metrics`)).text();
  const counts = text.matchAll(/^culvert_spool_accepted_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

describe(`${rate} reports a second or more through the proxy: nothing is lost, nobody is told to try again, no page fails`, () => {
  test.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    ["the ingest refuses connections", () => stack.ingest({ gone: true }), well],
    ["the ingest hangs", () => stack.ingest({ delay: 60_000, cut: "body" }), well],
    ["the ingest cuts connections in the middle of bodies", () => stack.ingest({ cut: "body" }), well],
    ["the ingest answers 503", () => stack.ingest({ status: 503 }), well],
    [
      "the ingest takes 5 s for each, until more are open than the edge lets wait for it",
      async () => {
        const before = await kept();
        await stack.ingest({ delay: 5_000 });
        // It takes them all: what the spool gets is what the edge had no place for.
        await until(async () => (await kept()) > before + 100, 150_000);
      },
      well,
    ],
    [
      "the ingest's name is gone",
      () => stack.on("ingest", "network", "disconnect", stack.id),
      () => stack.on("ingest", "network", "connect", "--alias=ingest", stack.id),
    ],
    [
      "the ingest flaps",
      async () => {
        for (let i = 0; i < 4; i++) {
          await stack.ingest({ status: 502 });
          await pause(lasts / 8);
          await well();
          await pause(lasts / 8);
        }
      },
      well,
    ],
  ])("%s for a while", { timeout: 5 * 60_000 }, async (fault, begin, end) => {
    const visits = await visit(stack, rate, async (more) => {
      await more(rate);
      await trouble(begin, end);
      await more(rate);
    });
    expect(await row(stack, fault, visits)).toMatchObject({
      lost: 0,
      ...(takesNone.includes(fault) && { repeated: 0 }),
    });
    expect(visits.pages.failed).toEqual([]);
    expect(visits.again).toEqual({});
  });
});
