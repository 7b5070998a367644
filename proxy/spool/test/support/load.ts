import { Agent, request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { envelope, isEmpty, newId, outcome } from "./envelopes.ts";
import { type Stack, waitUntil } from "./stack.ts";

// No limit on connections: a request that waits must not delay another one.
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

/** The end of an error before the request was sent: the proxy passes on no incomplete body (proxy_request_buffering). */
export const unsent = " before it was sent";

/** Resolves with the status, or with the error if there was no response, and whether that was before the request was sent. */
export function requestProxy({ proxy }: Pick<Stack, "proxy">, path: string, body?: Buffer): Promise<number | string> {
  return new Promise((resolve) => {
    const options = { ...proxy, path, agent, method: body ? "POST" : "GET", servername: "localhost" };
    const headers = { host: "localhost", ...(body && { "content-type": "text/plain" }) };
    const outgoing = request({ ...options, headers, timeout: 120_000 }, (response) => {
      response.resume().on("error", () => {});
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.on("close", () => resolve("cut"));
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("timeout")));
    outgoing.on("error", ({ code, message }: NodeJS.ErrnoException) =>
      resolve(`${code ?? message}${outgoing.writableFinished ? "" : unsent}`),
    );
    outgoing.end(body);
  });
}

export const requestPage = (stack: Pick<Stack, "proxy">) => requestProxy(stack, "/upstream");

const all = ["event", "event", "transaction", "session", "replay_event", "log", "feedback", "profile_chunk"];

/** Envelopes that are sent at a time. A machine that is too busy to answer gets no more: that would be another test, of overload. */
const maxOpen = 400;

/**
 * Sends `rate` envelopes per second, of these items in turn, and requests a page ten times a second, while `faults` runs; `more` waits
 * until this many further envelopes have been sent. As in the browser's offline queue, an envelope is sent again until it is answered
 * with 200; `retries` counts the other answers. Then waits until the spool is empty.
 */
export async function runLoad(
  stack: Stack,
  faults: (more: (envelopes: number) => Promise<void>, retries: Record<string, number>) => Promise<void>,
  { rate = 100, items = all } = {},
) {
  const ids: string[] = [];
  const retries: Record<string, number> = {};
  const failedPages: (number | string)[] = [];
  await waitUntil(async () => (await requestPage(stack)) === 200);
  const open = new Set<Promise<void>>();
  const track = (work: Promise<void>) => {
    open.add(work);
    work.finally(() => open.delete(work));
  };
  const sendEnvelope = async () => {
    const id = newId();
    ids.push(id);
    const body = envelope(items[ids.length % items.length], id, 1_900);
    for (let attempts = 0; ; attempts++) {
      const answer = await requestProxy(stack, "/monitoring", body);
      if (answer === 200) return;
      retries[answer] = (retries[answer] ?? 0) + 1;
      await sleep(Math.min(4_000, 500 * 2 ** attempts) * Math.random());
    }
  };
  const expectPage = async () => {
    const answer = await requestPage(stack);
    if (answer !== 200) failedPages.push(answer);
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
      if (ticks % 5 === 0) track(expectPage());
    }
  })();
  const more = (envelopes: number, target = ids.length + envelopes) => waitUntil(async () => ids.length >= target);
  await faults(more, retries).finally(() => {
    isOver = true;
  });
  await load;
  await Promise.all(open);
  await waitUntil(() => isEmpty(stack));
  const result = { ...(await outcome(stack, ids)), retries };
  console.log(JSON.stringify({ sent: ids.length, ...result, failedPages: failedPages.length }));
  return { ...result, failedPages };
}
