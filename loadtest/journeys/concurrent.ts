import type { Client } from "../lib/client.ts";
import { newContext } from "../lib/context.ts";
import { nextOf } from "../lib/random.ts";
import { answers } from "../lib/request.ts";
import { assertFreshTrace, assertPage } from "../lib/responses.ts";
import { pageTrace } from "../lib/trace.ts";

const REQUESTS = 10;

/**
 * Sends ten traces at the same moment from one virtual user, then ten requests without a trace. If the server mixes up concurrent
 * requests, a page is in the trace of another one.
 */
export async function concurrent(client: Client): Promise<void> {
  const path = nextOf(client.options.pages);
  const request = { path, kind: "page", untimed: true } as const;
  const sent = Array.from({ length: REQUESTS }, () => newContext(client.options.dsn.publicKey));
  const pages = sent.map(({ headers, traceId }) => client.request({ ...request, headers, traceId }));
  for (const [at, on] of (await answers(pages)).entries()) {
    if (!on || !assertPage(client, on, path)) continue;
    const [expected, received] = [sent[at]?.traceId, pageTrace(on.body).trace?.traceId];
    const other = sent.some(({ traceId }) => traceId === received) ? ", which another of the ten requests sent" : "";
    client.check(
      "concurrent_trace",
      received === expected,
      on,
      `sent trace ${expected}, the page is in trace ${received}${other}`,
    );
  }
  for (const on of await answers(Array.from({ length: REQUESTS }, () => client.request(request))))
    if (on && assertPage(client, on, path)) assertFreshTrace(client, on);
}
