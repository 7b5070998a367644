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

const items = ["event", "event", "transaction", "session", "replay_event", "log", "feedback", "profile_chunk"];

/** How many of these retries may have been stored before: not those that the proxy never received, or rejected. */
export function maybeStored(retries: LoadResult["retries"]): number {
  const stored = Object.entries(retries).filter(([answer]) => answer !== "429" && !answer.endsWith(unsent));
  return stored.reduce((sum, [, count]) => sum + count, 0);
}

/** Resolves when this many further envelopes have been sent. */
export type SendMore = (envelopes: number) => Promise<void>;

/**
 * A machine that is too busy to answer gets no more: that would be another test, of overload. Envelopes that wait for a proxy that is
 * down do not count: their return is part of the load.
 */
const maxOpenRequests = 400;

/**
 * Sends `rate` envelopes of 2 KB per second, of all categories, to the proxy, and requests `path` ten times a second, while `faults`
 * runs. Resolves when that has ended and every envelope has been answered with 200.
 */
export async function runLoad(
  stack: Pick<Stack, "proxy">,
  rate: number,
  faults: (more: SendMore) => Promise<void>,
  path = "/upstream",
): Promise<LoadResult> {
  const result: LoadResult = { ids: [], retries: {}, pages: { requested: 0, failed: [] } };
  const { proxy } = stack;
  const isUp = async () => (await requestProxy(proxy, path)) === 200;
  await waitUntil(isUp);
  let isOver = false;
  let openRequests = 0;
  const inProgress = new Set<Promise<void>>();
  const track = (work: Promise<void>) => {
    inProgress.add(work);
    work.finally(() => inProgress.delete(work));
  };

  // One probe for all envelopes: thousands of retries would take the CPU from a proxy that is starting.
  let recovery: Promise<void> | undefined;
  const recovered = () => {
    recovery ??= waitUntil(isUp, 600_000).finally(() => {
      recovery = undefined;
    });
    return recovery;
  };

  const sendEnvelope = async () => {
    const id = newId();
    result.ids.push(id);
    let attempts = 0;
    const body = envelope(items[result.ids.length % items.length], id, 1_900);
    const attempt = async () => {
      openRequests++;
      return requestProxy(proxy, "/monitoring", body).finally(() => openRequests--);
    };
    for (let answer = await attempt(); answer !== 200; answer = await attempt()) {
      result.retries[answer] = (result.retries[answer] ?? 0) + 1;
      if (typeof answer === "string") await recovered();
      await sleep(Math.min(4_000, 500 * 2 ** attempts++) * Math.random());
    }
  };
  const requestPage = async () => {
    result.pages.requested++;
    const answer = await requestProxy(proxy, path);
    if (answer !== 200) result.pages.failed.push(answer);
  };

  const load = (async () => {
    let [last, left] = [Date.now(), 0];
    for (let ticks = 1; !isOver; ticks++) {
      await sleep(20);
      // What a busy machine could not send in time is left out: sent in one burst, it would be rate limited.
      const due = (Math.min(100, Date.now() - last) * rate) / 1_000 + left;
      last = Date.now();
      left = due % 1;
      for (let i = 1; i <= due && openRequests < maxOpenRequests; i++) track(sendEnvelope());
      if (ticks % 5 === 0) track(requestPage());
    }
  })();
  const more: SendMore = async (envelopes) => {
    const target = result.ids.length + envelopes;
    while (result.ids.length < target) await sleep(20);
  };
  await faults(more).finally(() => {
    isOver = true;
  });
  await load;
  await Promise.all(inProgress);
  return result;
}
