import { errorEnvelope } from "../lib/envelope.ts";
import { pick, randomHex } from "../lib/random.ts";
import { SENT_MARK } from "../lib/trace/context.ts";
import type { Visitor } from "../lib/visitor.ts";
import { send } from "./report.ts";

const PAGES = 7;
/** Reports: so many at once, then a rest. A lively site's rate, for the question is who queues behind whom, not who wins the CPU. */
const AT_ONCE = 3;
const REST_MS = 20;
/** No more than this many reports, however slow the pages are. */
const MOST_REPORTS = 400;
/** A page may become this much slower: what a second busy process on the same machine costs, not a queue. */
const FACTOR = 2;
const SLACK_MS = 50;

/** Times a page alone, and again while reports keep pouring through the tunnel. */
export async function independence(visitor: Visitor): Promise<void> {
  const path = pick(visitor.knobs.pages);
  const alone = await time(visitor, path);
  const pouring = { on: true };
  const reports = pour(visitor, pouring);
  const beside = await time(visitor, path);
  pouring.on = false;
  await reports;
  const example = `${path}: ${alone.toFixed(0)} ms alone, ${beside.toFixed(0)} ms beside reports`;
  visitor.check("page_independent", beside <= FACTOR * alone + SLACK_MS, example);
}

async function pour(visitor: Visitor, pouring: { on: boolean }): Promise<void> {
  const sender = { dsn: visitor.knobs.dsn, traceId: SENT_MARK + randomHex(10), now: new Date() };
  for (let sent = 0; pouring.on && sent < MOST_REPORTS; sent += AT_ONCE) {
    const body = errorEnvelope(sender);
    await Promise.all(Array.from({ length: AT_ONCE }, () => send(visitor, "burst", body, sender)));
    await new Promise<void>((rested) => setTimeout(rested, REST_MS));
  }
}

/**
 * The second fastest of several views, in milliseconds: whoever has to queue is never fast, whereas a machine that is busy
 * with something else is slow only now and then.
 */
async function time(visitor: Visitor, path: string): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < PAGES; at++) times.push((await visitor.ask({ path, name: `${path} (timed)` })).milliseconds);
  return times.sort((a, b) => a - b)[1] ?? Number.POSITIVE_INFINITY;
}
