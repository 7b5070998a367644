import { setTimeout as sleep } from "node:timers/promises";
import { envelope, newId } from "./envelopes.ts";
import { requestProxy, unsent } from "./proxy-request.ts";
import type { Stack } from "./stack.ts";
import { waitUntil } from "./wait.ts";

/** The result of a load. */
export interface LoadResult {
  /** The ids of all envelopes; each was sent again until it was answered with 200, as the browser's offline queue does. */
  ids: string[];
  /** How many envelopes had to be sent again, by the status or error. */
  retries: Record<string, number>;
  pages: { requested: number; failed: (number | string)[] };
}

/** All categories. */
const all = ["event", "event", "transaction", "session", "replay_event", "log", "feedback", "profile_chunk"];

/** How many of these retries may have been stored before: not those that the proxy never received, or rejected. */
export function maybeStored(retries: LoadResult["retries"]): number {
  const stored = Object.entries(retries).filter(([answer]) => answer !== "429" && !answer.endsWith(unsent));
  return stored.reduce((sum, [, count]) => sum + count, 0);
}

/** Envelopes that are sent at a time. A machine that is too busy to answer gets no more: that would be another test, of overload. */
const maxOpen = 400;

/**
 * Sends `rate` envelopes of 2 KB per second, of these items in turn, to the proxy, and requests a page ten times a second, while `faults`
 * runs; its first argument waits until this many further envelopes have been sent. Resolves when every envelope has been answered with 200.
 */
export async function runLoad(
  { proxy }: Pick<Stack, "proxy">,
  rate: number,
  faults: (more: (envelopes: number) => Promise<void>, soFar: LoadResult) => Promise<void>,
  items = all,
): Promise<LoadResult> {
  const result: LoadResult = { ids: [], retries: {}, pages: { requested: 0, failed: [] } };
  const page = () => requestProxy(proxy, "/upstream");
  await waitUntil(async () => (await page()) === 200);
  const open = new Set<Promise<void>>();
  const track = (work: Promise<void>) => {
    open.add(work);
    work.finally(() => open.delete(work));
  };
  const sendEnvelope = async () => {
    const id = newId();
    result.ids.push(id);
    const body = envelope(items[result.ids.length % items.length], id, 1_900);
    for (let attempts = 0; ; attempts++) {
      const answer = await requestProxy(proxy, "/monitoring", body);
      if (answer === 200) return;
      result.retries[answer] = (result.retries[answer] ?? 0) + 1;
      await sleep(Math.min(4_000, 500 * 2 ** attempts) * Math.random());
    }
  };
  const requestPage = async () => {
    result.pages.requested++;
    const answer = await page();
    if (answer !== 200) result.pages.failed.push(answer);
  };

  let isOver = false;
  const load = (async () => {
    let [last, due] = [Date.now(), 0];
    for (let ticks = 1; !isOver; ticks++) {
      await sleep(20);
      // What a busy machine could not send in time is left out: sent in one burst, it would be rate limited.
      due = (due % 1) + (Math.min(100, Date.now() - last) * rate) / 1_000;
      last = Date.now();
      for (let i = 1; i <= due && open.size < maxOpen; i++) track(sendEnvelope());
      if (ticks % 5 === 0) track(requestPage());
    }
  })();
  const more = (envelopes: number, target = result.ids.length + envelopes) =>
    waitUntil(async () => result.ids.length >= target, 600_000);
  await faults(more, result).finally(() => {
    isOver = true;
  });
  await load;
  await Promise.all(open);
  return result;
}
