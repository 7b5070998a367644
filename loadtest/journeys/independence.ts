import type { Client } from "../lib/client.ts";
import { errorEnvelope } from "../lib/envelope.ts";
import { nextOf } from "../lib/random.ts";
import { newSender, sendEnvelope } from "../lib/send-envelope.ts";

const PAGE_REQUESTS = 7;
/** Envelopes sent concurrently before each pause. A busy site's rate: it must show queueing behind envelopes, not a lack of CPU. */
const BATCH_SIZE = 3;
const BATCH_INTERVAL_MS = 20;
const MAX_ENVELOPES = 400;
/** How much slower a page may become: the cost of a second busy process on the same machine, not of a queue. */
const MAX_SLOWDOWN = 2;
const TOLERANCE_MS = 50;

/** Times a page alone, and again while envelopes are sent through the tunnel. */
export async function independence(client: Client): Promise<void> {
  const path = nextOf(client.options.pages);
  const alone = await pageTime(client, path);
  const load = { on: true };
  const envelopes = sendEnvelopes(client, load);
  const loaded = await pageTime(client, path).finally(() => {
    load.on = false;
  });
  await envelopes;
  const example = `${path}: ${alone.toFixed(0)} ms alone, ${loaded.toFixed(0)} ms while envelopes are sent`;
  client.check("page_independent", loaded <= MAX_SLOWDOWN * alone + TOLERANCE_MS, undefined, example);
}

async function sendEnvelopes(client: Client, load: { on: boolean }): Promise<void> {
  const sender = newSender(client);
  for (let sent = 0; load.on && sent < MAX_ENVELOPES; sent += BATCH_SIZE) {
    await Promise.all(
      Array.from({ length: BATCH_SIZE }, () => sendEnvelope(client, "burst", errorEnvelope(sender), sender)),
    );
    await new Promise<void>((resolve) => setTimeout(resolve, BATCH_INTERVAL_MS));
  }
}

/**
 * Milliseconds of the second fastest of several page requests: behind a queue every request is slow, while other work on
 * the machine slows down only some of them.
 */
async function pageTime(client: Client, path: string): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < PAGE_REQUESTS; at++) {
    const { milliseconds } = await client.request({ path, kind: "page", untimed: true });
    times.push(milliseconds);
  }
  return times.sort((a, b) => a - b)[1] ?? Number.POSITIVE_INFINITY;
}
